/**
 * targetOf returns the HOST:PORT to send reports to: the address of a listener, where it listens on all addresses with the host
 * that the browser reached the page by.
 */
export function targetOf(address: string, host: string): string {
  const at = address.replace(/^[a-z]+:\/\//, '');
  const colon = at.lastIndexOf(':');
  const name = at.slice(0, colon);
  return `${['', '0.0.0.0', '[::]'].includes(name) ? host : name}${at.slice(colon)}`;
}
