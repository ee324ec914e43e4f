/** The host of a URL, or the text itself if it is not a URL. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}

/** Whether the redirect address of an app is a custom scheme instead of a host. */
export function isScheme(redirect_host: string): boolean {
  return redirect_host.endsWith(':');
}
