import { afterAll, beforeAll, expect, test } from 'vitest';
import { openFormBrowser } from '../../../clients/form-browser.ts';
import { createTestDatabase } from '../../../support/servers/postgres/database.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { type TcpProxy, startTcpProxy } from '../../../support/servers/tcp-proxy.ts';
import { newUsername, password } from '../setup.ts';

let service: TestService;
let proxy: TcpProxy;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await createTestDatabase();
  drop = () => database.drop();
  proxy = await startTcpProxy(database.url);
  service = await startService({ worker: false, env: { DATABASE_URL: proxy.url, LOG_LEVEL: 'silent' } });
});
afterAll(async () => {
  await service.stop();
  await proxy.close();
  await drop();
});

test('while the database is down the page says so, and the person stays signed in', async () => {
  const browser = openFormBrowser(service.url);
  const username = newUsername();
  await browser.signUp(username, password);
  await proxy.disconnect();
  const answer = await browser.go('/console');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('Retry-After')).toBe('1');
  expect(answer.visibleText).toContain('Temporarily unavailable');
  expect(answer.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
  await proxy.restore();
  await expect.poll(async () => (await browser.go('/console')).visibleText).toContain(`Hello, ${username}`);
});
