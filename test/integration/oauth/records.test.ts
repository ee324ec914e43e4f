import { randomBytes } from 'node:crypto';
import type { Adapter } from 'oidc-provider';
import { beforeAll, expect, test } from 'vitest';
import { createAdapters } from '../../../src/transports/oauth/storage-adapter.ts';
import type { CallHooks } from '../../../src/transports/oauth/call-hooks.ts';
import { useAuthorizationServer } from './authorization-server.ts';

/** Nothing calls: the adapters are asked by hand. */
const hooks: CallHooks = {
  onClientIdentified: async () => {},
  mayContinue: () => true,
  isGrantUse: () => false,
  onGrantUse: () => undefined,
  rotatedRefreshToken: () => undefined,
  credentialSecret: () => null,
  isSingleTokenRevocation: () => false,
};

const authority = useAuthorizationServer();
let adapterOf: (model: string) => Adapter;
beforeAll(async () => {
  const resources = Object.values(authority.resources);
  adapterOf = createAdapters({ storage: authority.storage, hooks, issuer: 'http://localhost', resources });
});

const freshId = () => randomBytes(32).toString('base64url');

test('a token without an agent is not stored', async () => {
  const jti = freshId();
  const saving = adapterOf('AccessToken').upsert(
    jti,
    { jti, kind: 'AccessToken', clientId: 'x', aud: 'y' },
    60,
  );
  await expect(saving).rejects.toThrow();
});
