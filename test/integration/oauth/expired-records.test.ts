import { expect, test } from 'vitest';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { registerApp } from '../../clients/oauth/app.ts';
import { useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

const day = 24 * 3_600_000;
const count = async (table: string) => (await authority.sql(`select 1 from ${table}`)).length;

test('expired requests, codes, tokens, grants and clients are removed, each after its own time', async () => {
  const who = await authority.person();
  const app = await registerApp(authority.url);
  await openFormBrowser(authority.url).go(app.address());
  await app.approved(who);
  const { refresh_token } = await app.connect(who);
  await app.refresh(refresh_token);
  const tables = ['oauth_records', 'access_tokens', 'client_grants', 'oauth_clients'];
  const left = () => Promise.all(tables.map(count));
  /** Moves the rows into the past and runs the maintenance task. */
  async function after(milliseconds: number) {
    await authority.sql('update oauth_records set expires_at = expires_at - $1::bigint', [milliseconds]);
    await authority.sql('update access_tokens set expires_at = expires_at - $1::bigint', [milliseconds]);
    await authority.sql('update client_grants set expires_at = expires_at - $1::bigint', [milliseconds]);
    await authority.sql('update oauth_clients set last_used_at = last_used_at - $1::bigint', [milliseconds]);
    await maintenanceHandler(authority.core).handle({ task: 'expire-tokens' });
    return left();
  }
  // A request, two decisions, two codes (one of them used), two refresh tokens (one of them used), two access tokens.
  expect(await left()).toEqual([7, 2, 2, 1]);
  // Codes expire after a minute; access tokens and the grant of the unused code after 15 minutes.
  expect(await after(61_000)).toEqual([5, 2, 2, 1]);
  expect(await after(15 * 60_000)).toEqual([5, 0, 1, 1]);
  expect(await after(3_600_000)).toEqual([2, 0, 1, 1]);
  expect(await after(29 * day)).toEqual([2, 0, 1, 1]);
  expect(await after(day)).toEqual([0, 0, 0, 0]);
});
