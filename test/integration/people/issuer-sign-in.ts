import { openFormBrowser, type PageResponse, type FormBrowser } from '../../clients/form-browser.ts';
import { startService, type TestService } from '../../support/service.ts';

/** The address of the service under test, as the issuer knows it; the service listens at another one. */
export const publicUrl = 'http://ams.localhost:3999';
export const callback = `${publicUrl}/sign-in/external/callback`;

interface Issuer {
  url: string;
}

/** A service that accepts sign-ins from an issuer. */
export function startServiceWithIssuer(
  issuer: Issuer,
  env: Record<string, string> = {},
): Promise<TestService> {
  const client = { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: 'ams', OIDC_NAME: 'Example ID' };
  const settings = { PUBLIC_URL: publicUrl, LOG_LEVEL: 'silent', ...client, ...env };
  return startService({ worker: false, env: settings });
}

const locationOf = ({ headers }: PageResponse) => headers.get('Location') ?? '';

/** Starts the sign-in at the service; returns the address of the redirect. */
export async function beginSignIn(browser: FormBrowser, to = '/console/account'): Promise<string> {
  return locationOf(await browser.go(`/sign-in/external?${new URLSearchParams({ to }).toString()}`));
}

/** The target of a page that redirects by itself; the page has the same address as a link. */
export function followRedirect(page: PageResponse): string {
  const address = page.headers.get('Refresh')?.replace('0; url=', '') ?? '';
  if (!page.elements('a').some(({ attribs }) => attribs['href'] === address))
    throw new Error(page.visibleText);
  return address;
}

/** Signs in at the issuer as a person does, in a separate browser; returns the address of the callback. */
export async function signInAtIssuer(issuer: Issuer, address: string, username = 'anybody'): Promise<string> {
  const browser = openFormBrowser(issuer.url);
  let page = await browser.go(address);
  while (page.status === 200) {
    const [form] = page.forms;
    if (!form) throw new Error(page.visibleText);
    const login = form.fields.some(([name]) => name === 'login');
    page = await browser.send(form, { fields: login ? { login: username, password: 'any' } : {} });
  }
  return locationOf(page);
}

/** Declines at the issuer. */
export async function declineAtIssuer(issuer: Issuer, address: string): Promise<string> {
  const browser = openFormBrowser(issuer.url);
  const page = await browser.go(address);
  const link = page.elements('a').find(({ attribs }) => attribs['href']?.endsWith('/abort'));
  return locationOf(await browser.go(link?.attribs['href'] ?? ''));
}

/** Opens the callback. */
export function returnToService(browser: FormBrowser, back: string): Promise<PageResponse> {
  if (!back.startsWith(callback)) throw new Error(`not the way back: ${back}`);
  return browser.go(back.slice(publicUrl.length));
}
