import { expect, test } from 'vitest';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { createOAuthStorage } from '../../../src/services/auth/oauth-storage.ts';
import { registerApp } from '../../clients/oauth/app.ts';
import { clientSecretBasic, postForm, startAuthorizationServer } from './authorization-server.ts';

test('a failed look-up does not make a valid token look inactive', async () => {
  let away: string | undefined;
  const authority = await startAuthorizationServer({
    storageOverrides: {
      findClient(clientId) {
        if (clientId === away) throw new DomainError('UNAVAILABLE', 'away', { retry_after: 1 });
        return found(clientId);
      },
    },
  });
  const { unitOfWork } = authority.core;
  const { findClient: found } = createOAuthStorage({
    clock: authority.core.clock,
    unitOfWork,
    publish: async () => {},
    refresh_grace_ms: 0,
  });
  try {
    const who = await authority.person();
    const app = await registerApp(authority.url);
    const { access_token: token } = await app.connect(who);
    const asking = clientSecretBasic(await authority.credential(who.agent.canonical_handle));
    const introspect = () => postForm(`${authority.url}/introspect`, { token }, asking);
    expect((await introspect()).json.active).toBe(true);
    away = app.client_id;
    const answer = await introspect();
    expect([answer.status, answer.json.error]).toEqual([503, 'temporarily_unavailable']);
    away = undefined;
    expect((await introspect()).json.active).toBe(true);
  } finally {
    await authority.close();
  }
});
