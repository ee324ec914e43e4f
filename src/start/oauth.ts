import type { Core } from '../compose.ts';
import type { RateLimits } from '../operations/rate-limits.ts';
import { createOpenIdClient } from '../platform/outbound/openid.ts';
import { createPublicFetch } from '../platform/outbound/guarded-fetch.ts';
import { createJsonSigner } from '../services/auth/json-signer.ts';
import { createOAuthStorage } from '../services/auth/oauth-storage.ts';
import { loadSigningKeys, type SigningKey, signingKeysTopic } from '../services/auth/signing-keys.ts';
import { toResourceUrls } from '../services/auth/tokens.ts';
import { deriveKeys } from '../shared/encryption.ts';
import { createLimitedLog } from '../shared/error-log.ts';
import { createSigner } from '../shared/signer.ts';
import { createPageRenderer } from '../transports/console/renderer.tsx';
import { watchSigningKeys } from '../transports/oauth/signing-key-watcher.ts';
import { createOAuthTransport } from '../transports/oauth/transport.ts';
import { createWarningLog, openIdClientOf } from './connections.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { ApiOverrides } from './overrides.ts';
import type { LiveParts } from './realtime.ts';

/** The authorization server with its keys, and the renderer of its pages. */
export async function startOAuth(
  core: Core,
  lifecycle: Lifecycle,
  { limits, publishRevocations }: Pick<LiveParts, 'publishRevocations'> & { limits: RateLimits },
  overrides: ApiOverrides,
) {
  const { config, unitOfWork, bus, clock } = core;
  const { PUBLIC_URL: public_url, SECRETS } = config;
  const log = createWarningLog(core.logger);
  const loadKeys = () => loadSigningKeys(unitOfWork, SECRETS);
  let signing_keys = await loadKeys();
  const cookie_keys = deriveKeys(SECRETS, 'cookies').map((key) => key.toString('base64url'));
  const forms = createSigner(deriveKeys(SECRETS, 'console forms'));
  const renderer = await createPageRenderer({ public_url, forms });
  const refresh_grace_ms = config.REFRESH_GRACE_SECONDS * 1_000;
  const storage = {
    ...createOAuthStorage({ unitOfWork, clock, publish: publishRevocations, refresh_grace_ms }),
    ...overrides.oauthStorage,
  };
  const oauth = createOAuthTransport({
    issuer: public_url,
    resources: toResourceUrls(public_url),
    storage,
    limits,
    cookie_keys,
    signing_keys,
    trust_proxy: config.TRUST_PROXY,
    documents: config.CLIENT_ID_METADATA_DOCUMENTS,
    readDocument: overrides.readDocument ?? createPublicFetch({ timeoutMs: 2_500, maxBytes: 5 * 1_024 }),
    errorPage: (ctx, text) => renderer.errorPage(ctx, text),
    report: (error) => log('the authorization server failed', error),
  });
  function replaceKeys(keys: SigningKey[]): void {
    signing_keys = keys;
    oauth.replaceKeys(keys);
  }
  const keys = watchSigningKeys(signing_keys, { load: loadKeys, onChange: replaceKeys, log });
  const signJson = createJsonSigner(() => newest(signing_keys), `${public_url}/.well-known/jwks.json`);
  lifecycle.onStop('signing keys', 1_000, async () => keys.stop());
  bus.subscribe(signingKeysTopic, () => void keys.refresh());
  // The console reads and writes cookies of authorization requests, so the application signs with the same keys.
  return { oauth, storage, renderer, cookie_keys, signJson };
}

function newest([key]: readonly SigningKey[]): SigningKey {
  if (!key) throw new Error('there is no signing key');
  return key;
}

export type OAuthParts = Awaited<ReturnType<typeof startOAuth>>;

/** The OpenID Connect provider of OIDC_ISSUER and OIDC_CLIENT_ID; undefined if they are not set. */
export function createExternalSignIn({ config, logger }: Core) {
  const client = openIdClientOf(config);
  if (!client) return undefined;
  const redirect_uri = `${config.PUBLIC_URL}/sign-in/external/callback`;
  const log = createLimitedLog(createWarningLog(logger));
  const provider = createOpenIdClient({ ...client, redirect_uri, log });
  return { name: config.OIDC_NAME ?? new URL(client.issuer).host, issuer: client.issuer, provider };
}
