const defaultPath = '/console';
const allowedPaths = /^\/(?:console(?:\/.*)?|authorize\/requests\/[\w-]+)$/;

/** An address that nobody can have: what is resolved against it and stays there is a path. */
const placeholderOrigin = 'http://here.invalid';

/**
 * Where to go after signing in. Only pages of the console and authorization requests: whatever else the address names, the way
 * leads to /console (an open redirect otherwise).
 */
export function safeReturnPath(given: string | null): string {
  if (given === null || !given.startsWith('/') || !URL.canParse(given, placeholderOrigin)) return defaultPath;
  // As a browser reads it: tabs and newlines vanish, backslashes are slashes, dots are resolved.
  const url = new URL(given, placeholderOrigin);
  return url.origin === placeholderOrigin && allowedPaths.test(url.pathname)
    ? url.pathname + url.search
    : defaultPath;
}
