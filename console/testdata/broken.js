// Does what the page must not: an inline style, which the content security policy forbids, and an error.
document.body.setAttribute('style', 'color: red');
throw new Error('broken on purpose');
