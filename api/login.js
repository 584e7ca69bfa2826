// The fragment of the address says which page of the console was asked for. It goes along with the form, and browsers keep it through the
// answer that leads to the console, also after a token that was wrong. It is a fragment whatever it holds: it leads nowhere else.
document.querySelector('form').addEventListener('submit', (event) => {
  event.target.action = `login${location.hash}`;
});
