import { randomBytes } from 'node:crypto';
import type { Configuration } from 'oidc-provider';
import { InvalidClientMetadata } from 'oidc-provider/lib/helpers/errors.js';
import { z } from 'zod';
import { toVisibleLine } from '../../../shared/visible-text.ts';
import { customClientFields } from './clients.ts';
import { type RedirectKind, classifyRedirect } from './redirect-addresses.ts';

const maxRedirectUris = 20;
const maxNameLength = 80;
const maxUriLength = 500;

/** Of what a client says of itself (RFC 7591, section 2): the fields that decide or show something here. */
const clientMetadataSchema = z.looseObject({
  redirect_uris: z.array(z.string()).min(1).max(maxRedirectUris),
  response_types: z.array(z.string()).optional(),
  grant_types: z.array(z.string()).optional(),
  client_name: z.string().optional(),
  client_uri: z.string().optional(),
});

/** What is kept of a client that nobody vouches for. */
export interface PublicClient {
  client_name?: string;
  client_uri?: string;
  redirect_uris: string[];
  application_type: 'native' | 'web';
  response_types: ['code'];
  grant_types: ['authorization_code', 'refresh_token'];
  token_endpoint_auth_method: 'none';
}

/**
 * What a client that registers itself becomes (RFC 7591, section 3): a public one for people, whatever it asked for otherwise.
 * @throws InvalidClientMetadata when it asks for what it cannot be: a client of its own agent, or without the code flow.
 */
function toRegisteredClient(given: unknown): PublicClient {
  const { grant_types = [] } = parse(given);
  if (grant_types.includes('client_credentials')) {
    throw new InvalidClientMetadata(
      'client_credentials: the owner of an agent makes such clients, in the console',
    );
  }
  return toPublicClient(given);
}

/**
 * What is kept of the metadata of a public client. Scopes and authentication are replaced, which RFC 7591 allows: clients ask for
 * what their library knows. Images and pages of the client's are left out: nothing remote is shown to people.
 * @throws InvalidClientMetadata
 */
export function toPublicClient(given: unknown): PublicClient {
  const { redirect_uris, response_types, grant_types, client_name, client_uri } = parse(given);
  if (response_types && !response_types.includes('code')) {
    throw new InvalidClientMetadata('response_types must hold code');
  }
  if (grant_types && !grant_types.includes('authorization_code')) {
    throw new InvalidClientMetadata('grant_types must hold authorization_code');
  }
  const kinds = redirect_uris.map(requireRedirectKind);
  const name = sanitizeName(client_name ?? '');
  const uri = URL.parse(client_uri ?? '');
  return {
    ...(name !== '' && { client_name: name }),
    ...(uri?.protocol === 'https:' && uri.href.length <= maxUriLength && { client_uri: uri.href }),
    redirect_uris,
    // A native client may come back at any port of the person's machine (RFC 8252, section 7.3).
    application_type: kinds.some((kind) => kind !== 'https') ? 'native' : 'web',
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  };
}

function parse(given: unknown): z.infer<typeof clientMetadataSchema> {
  const own = customClientFields.find(
    (field) => typeof given === 'object' && given !== null && field in given,
  );
  if (own !== undefined) throw new InvalidClientMetadata(`${own} is not for a client to choose`);
  const parsed = clientMetadataSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? 'the metadata');
  const rule =
    field === 'redirect_uris' ? `must be 1 to ${maxRedirectUris} addresses` : 'is of the wrong form';
  throw new InvalidClientMetadata(`${field} ${rule}`);
}

function requireRedirectKind(address: string): RedirectKind {
  const found = classifyRedirect(address);
  if ('fault' in found) throw new InvalidClientMetadata(`redirect_uris ${found.fault}`);
  return found.kind;
}

/** A name as people can be shown it: in one line, of visible characters, in the order in which they are read. */
export function sanitizeName(name: string): string {
  return toVisibleLine(name, maxNameLength);
}

type Features = NonNullable<Configuration['features']>;

/** Dynamic registration (RFC 7591). What is registered cannot be changed: a client registers anew instead. */
export function createRegistrationFeature(): Features['registration'] {
  return {
    enabled: true,
    issueRegistrationAccessToken: false,
    /** The one moment between reading a registration and making the client. */
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
  'client_name',
  'client_uri',
  'redirect_uris',
  'application_type',
  'response_types',
  'grant_types',
  'token_endpoint_auth_method',
];

/** The answer to a registration (RFC 7591, section 3.2.1): what is kept of it, without what the provider adds for OpenID Connect. */
export function presentRegistration(client: Record<string, unknown>): object {
  return Object.fromEntries(
    presentedFields.flatMap((field) => (client[field] === undefined ? [] : [[field, client[field]]])),
  );
}
