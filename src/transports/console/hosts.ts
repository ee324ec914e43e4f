/** The host of an address; of what is none, the text itself. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}

const loopbackHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** Whether an app's answers go to a scheme that a program on the person's device owns, and to no host. */
export function isScheme(redirect_host: string): boolean {
  return redirect_host.endsWith(':');
}

/** Whether an app's answers stay on the person's device: with a program that listens there, or that owns a scheme. */
export function isOnDevice(redirect_host: string): boolean {
  return isScheme(redirect_host) || loopbackHost.test(redirect_host);
}
