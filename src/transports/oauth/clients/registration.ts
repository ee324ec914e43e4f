import { randomBytes } from 'node:crypto';
import type { Configuration } from 'oidc-provider';
import { InvalidClientMetadata } from 'oidc-provider/lib/helpers/errors.js';
import { z } from 'zod';
import { toVisibleLine } from '../../../../packages/core/src/domain/visible-text.ts';
import { customClientFields } from './clients.ts';
import { type RedirectKind, classifyRedirect } from './redirect-addresses.ts';

const maxRedirectUris = 20;
const maxNameLength = 80;
const maxUriLength = 500;

/** The used client metadata (RFC 7591, section 2). */
const clientMetadataSchema = z.looseObject({
  redirect_uris: z.array(z.string()).min(1).max(maxRedirectUris),
  response_types: z.array(z.string()).optional(),
  grant_types: z.array(z.string()).optional(),
  client_name: z.string().optional(),
  client_uri: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
});

const secretMethods = ['client_secret_basic', 'client_secret_post'] as const;

/** The stored metadata of an app. */
export interface AppMetadata {
  client_name?: string;
  client_uri?: string;
  redirect_uris: string[];
  application_type: 'native' | 'web';
  response_types: ['code'];
  grant_types: ['authorization_code', 'refresh_token'];
  token_endpoint_auth_method: 'none' | (typeof secretMethods)[number];
}

/**
 * Turns a registration (RFC 7591, section 3) into the metadata of an app. One that asks for a secret gets it; others are public.
 * @throws InvalidClientMetadata if it requests client credentials or excludes the code flow.
 */
function toRegisteredClient(metadata: unknown): AppMetadata {
  const { grant_types = [], token_endpoint_auth_method: requested } = parse(metadata);
  if (grant_types.includes('client_credentials')) {
    throw new InvalidClientMetadata(
      'client_credentials: the owner of the agent creates these clients in the console',
    );
  }
  const token_endpoint_auth_method = secretMethods.find((method) => method === requested) ?? 'none';
  return { ...toPublicClient(metadata), token_endpoint_auth_method };
}

/**
 * Selects the stored metadata of a public client. Scopes and authentication are replaced, as RFC 7591 allows, because clients send
 * the defaults of their library. Images and other links are dropped: pages show no remote content.
 * @throws InvalidClientMetadata
 */
export function toPublicClient(metadata: unknown): AppMetadata {
  const { redirect_uris, response_types, grant_types, client_name, client_uri } = parse(metadata);
  if (response_types && !response_types.includes('code')) {
    throw new InvalidClientMetadata('response_types must include code');
  }
  if (grant_types && !grant_types.includes('authorization_code')) {
    throw new InvalidClientMetadata('grant_types must include authorization_code');
  }
  const kinds = redirect_uris.map(requireRedirectKind);
  const name = sanitizeName(client_name ?? '');
  const uri = URL.parse(client_uri ?? '');
  return {
    ...(name !== '' && { client_name: name }),
    ...(uri?.protocol === 'https:' && uri.href.length <= maxUriLength && { client_uri: uri.href }),
    redirect_uris,
    // A native client may use any loopback port (RFC 8252, section 7.3).
    application_type: kinds.some((kind) => kind !== 'https') ? 'native' : 'web',
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  };
}

function parse(metadata: unknown): z.infer<typeof clientMetadataSchema> {
  const entries = Object.entries(metadata ?? {}).filter(([, value]) => value !== null);
  const reserved = customClientFields.find((field) => entries.some(([name]) => name === field));
  if (reserved !== undefined) throw new InvalidClientMetadata(`${reserved} is reserved`);
  const parsed = clientMetadataSchema.safeParse(Object.fromEntries(entries));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? 'metadata');
  const rule = field === 'redirect_uris' ? `must be 1 to ${maxRedirectUris} addresses` : 'is invalid';
  throw new InvalidClientMetadata(`${field} ${rule}`);
}

function requireRedirectKind(address: string): RedirectKind {
  const found = classifyRedirect(address);
  if ('problem' in found) throw new InvalidClientMetadata(`redirect_uris ${found.problem}`);
  return found.kind;
}

/** A client name as one line of visible characters without direction changes. */
export function sanitizeName(name: string): string {
  return toVisibleLine(name, maxNameLength);
}

type Features = NonNullable<Configuration['features']>;

/** Dynamic client registration (RFC 7591). Registrations cannot be changed; a client registers again instead. */
export function createRegistrationFeature(): Features['registration'] {
  return {
    enabled: true,
    issueRegistrationAccessToken: false,
    secretFactory: () => randomBytes(32).toString('base64url'),
    /** Normalizes the metadata, because this is the only hook between parsing it and creating the client. */
    idFactory({ oidc }) {
      const { body } = oidc;
      const accepted = toRegisteredClient(body);
      for (const field of Object.keys(body ?? {})) delete body?.[field];
      Object.assign(body ?? {}, accepted);
      return `app_${randomBytes(12).toString('hex')}`;
    },
  };
}

const presentedFields = [
  'client_id',
  'client_id_issued_at',
  'client_secret',
  'client_secret_expires_at',
  'client_name',
  'client_uri',
  'redirect_uris',
  'application_type',
  'response_types',
  'grant_types',
  'token_endpoint_auth_method',
];

/** The response to a registration (RFC 7591, section 3.2.1), without the fields of OpenID Connect. */
export function presentRegistration(client: Record<string, unknown>): object {
  return Object.fromEntries(
    presentedFields.flatMap((field) => (client[field] === undefined ? [] : [[field, client[field]]])),
  );
}
