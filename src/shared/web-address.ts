/**
 * Why a text is not an http or https address that reads the same everywhere (RFC 9110, section 4.2); undefined if it is one. The
 * reason follows the name of the field. URL parsers repair such texts, so what people see would not be where a request goes.
 */
export function webAddressProblem(address: string): string | undefined {
  if (/[\s\\]|\p{Cc}|\p{Cs}/u.test(address))
    return 'must not contain spaces, backslashes or control characters';
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(address) ?? [];
  const url = URL.parse(address);
  if (authority === undefined || !url) return 'must start with https:// and a host';
  if (authority.includes('@')) return 'must not contain user names';
  if (url.port === '0') return 'must not have the port 0';
  return undefined;
}
