/** The host of a URL, or the text itself if it is not a URL. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}

const loopbackHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** Whether the redirect address of an app is a custom scheme instead of a host. */
export function isScheme(redirect_host: string): boolean {
  return redirect_host.endsWith(':');
}

/** Whether the redirect address of an app is on the person's device: loopback or a custom scheme. */
export function isOnDevice(redirect_host: string): boolean {
  return isScheme(redirect_host) || loopbackHost.test(redirect_host);
}
