import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../support/browser-forms.ts';
import { testDatabase } from '../../support/postgres.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type TcpProxy, tcpProxy } from '../../support/tcp-proxy.ts';
import { freshName, password } from './house.ts';

let service: TestService;
let proxy: TcpProxy;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await testDatabase();
  drop = () => database.drop();
  proxy = await tcpProxy(database.url);
  service = await startService({ worker: false, env: { DATABASE_URL: proxy.url, LOG_LEVEL: 'silent' } });
});
afterAll(async () => {
  await service.stop();
  await proxy.close();
  await drop();
});

test('while the database is away a person is told so, and stays signed in', async () => {
  const browser = openBrowser(service.url);
  const username = freshName();
  await browser.signUp(username, password);
  await proxy.cut();
  const answer = await browser.go('/console');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('Retry-After')).toBe('1');
  expect(answer.words).toContain('We cannot do that right now');
  expect(answer.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
  await proxy.restore();
  await expect.poll(async () => (await browser.go('/console')).words).toContain(`Hello, ${username}`);
});
