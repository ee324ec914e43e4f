const home = '/console';
const ours = /^\/(?:console(?:\/.*)?|authorize\/requests\/[\w-]+)$/;

/** An address that nobody can have: what is resolved against it and stays there is a path. */
const here = 'http://here.invalid';

/**
 * Where to go after signing in. Only pages of the console and authorization requests: whatever else the address names, the way
 * leads to /console (an open redirect otherwise).
 */
export function returnTo(given: string | null): string {
  if (given === null || !given.startsWith('/') || !URL.canParse(given, here)) return home;
  // As a browser reads it: tabs and newlines vanish, backslashes are slashes, dots are resolved.
  const url = new URL(given, here);
  return url.origin === here && ours.test(url.pathname) ? url.pathname + url.search : home;
}
