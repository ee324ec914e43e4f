import { expect, test } from 'vitest';
import { findForm } from '../../../clients/form-browser.ts';
import { newUsername, password, useConsole } from '../setup.ts';

const setup = useConsole({ PUBLIC_URL: 'https://ams.example', TRUST_PROXY: 'false' });

test('with an https public URL every response asks for https from then on', async () => {
  for (const path of ['/sign-in', '/v1/agents/me', '/livez', '/nowhere']) {
    const { headers } = await fetch(`${setup.service.url}${path}`);
    expect([path, headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000']);
  }
});

test('a form that is sent to another host name is refused with the right address', async () => {
  const browser = setup.browser();
  const page = await browser.go('/sign-up');
  const answer = await browser.send(findForm(page), { headers: { Origin: 'https://elsewhere.example' } });
  expect(answer.status).toBe(403);
  expect(answer.visibleText).toContain('The address of this service is https://ams.example.');
});

test('with an https public URL every cookie is Secure and host-only, even if a proxy ends TLS', async () => {
  const browser = setup.browser();
  const page = await browser.go('/sign-up', { headers: { Origin: 'https://ams.example' } });
  const fields = { username: newUsername(), password };
  const headers = { Origin: 'https://ams.example' };
  const answer = await browser.send(findForm(page), { fields, headers, follow: false });
  expect(answer.status).toBe(303);
  const set = [...page.headers.getSetCookie(), ...answer.headers.getSetCookie()];
  expect(set.map((line) => line.split('=')[0])).toEqual(
    expect.arrayContaining(['__Host-ams_browser', '__Host-ams_session', '__Host-ams_flash']),
  );
  for (const line of set) expect(line).toMatch(/^__Host-.*; path=\/;.* secure;/i);
});
