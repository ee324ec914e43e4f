import { describe, expect, test } from 'vitest';
import { findForm, openFormBrowser } from '../../clients/form-browser.ts';
import { openConsentPage, submitConsent, registerApp, readRedirectParams } from '../../clients/oauth/app.ts';
import { useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

describe('the decision of a person', () => {
  test('pressed twice shows the outcome of the first press', async () => {
    const who = await authority.person();
    for (const [button, title] of [
      ['approve', 'You approved this request'],
      ['cancel', 'You denied this request'],
    ] as const) {
      const app = await registerApp(authority.url);
      const browser = openFormBrowser(authority.url);
      const page = await openConsentPage(browser, app.address(), who);
      const first = readRedirectParams(await submitConsent(browser, page, button, who.agent.id));
      for (const again of ['approve', 'cancel'] as const) {
        const second = await submitConsent(browser, page, again, who.agent.id);
        expect([second.status, second.headers.get('Location')]).toEqual([200, null]);
        expect(second.title).toContain(title);
      }
      const code = first.get('code');
      if (code !== null) expect((await app.exchange(code)).status).toBe(200);
    }
  });

  test('pressed twice before the browser has left leads on to the app', async () => {
    const who = await authority.person();
    const app = await registerApp(authority.url);
    const browser = openFormBrowser(authority.url);
    const page = await openConsentPage(browser, app.address(), who);
    const form = findForm(page, new URL(page.url).pathname);
    const press = () =>
      browser.send(form, { button: 'approve', fields: { agent_id: who.agent.id }, follow: false });
    const first = await press();
    const second = await press();
    const resume = second.headers.get('Location') ?? '';
    expect([first.status, second.status, resume]).toEqual([303, 303, first.headers.get('Location')]);
    const code = readRedirectParams(await browser.go(resume)).get('code') ?? '';
    expect((await app.exchange(code)).status).toBe(200);
    expect(
      await authority.sql('select 1 from client_grants where account_id = $1', [who.account_id]),
    ).toHaveLength(1);
  });
});
