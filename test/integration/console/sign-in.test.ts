import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../support/browser-forms.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

test('a person opens an account, signs out and signs in', async () => {
  const browser = openBrowser(service.url);
  const home = await browser.signUp('ada', 'a long enough phrase');
  expect(home.words).toContain('Hello, ada');
  const out = await browser.signOut();
  expect(out.words).toContain('You are signed out');
  const again = await browser.signIn('ada', 'a long enough phrase');
  expect(again.words).toContain('Hello, ada');
});
