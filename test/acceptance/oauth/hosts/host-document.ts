/** Where a client names `{PUBLIC_URL}/mcp` as `resource`. */
type Step = 'authorize' | 'token' | 'refresh';

/** What one version of an MCP host sends when a person signs in, as its public source, documentation or issues show. */
export interface HostDocument {
  /** As docs/mcp.md names it. */
  host: string;
  /** The variant of a host that has several. */
  variant?: string;
  /** The body of its registration, or its client metadata document without `client_id`. */
  metadata: { redirect_uris: readonly string[]; [member: string]: unknown };
  /** The address of its client metadata document; it does not register then. */
  document?: string;
  /** The redirect address of its request; by default the first that it registered. */
  redirect_uri?: string;
  scope?: string;
  resource?: readonly Step[] | undefined;
  /** How it authenticates at /token; by default with nothing but its client_id. `empty_basic`: HTTP Basic without a secret. */
  authentication?: 'client_secret_basic' | 'client_secret_post' | 'empty_basic';
  /** Sent with each refresh. */
  refresh_scope?: string;
}

/** A host without a secret, which names the resource everywhere unless `more` says otherwise. */
export function openHost(
  host: string,
  client_name: string,
  redirect_uris: readonly string[],
  { metadata, ...more }: Partial<Omit<HostDocument, 'metadata'>> & { metadata?: object } = {},
): HostDocument {
  const registered = { client_name, redirect_uris, ...codeWithoutSecret, ...metadata };
  return { host, resource: everywhere, ...more, metadata: registered };
}

export const everywhere = ['authorize', 'token', 'refresh'] as const;
const code = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
export const codeWithoutSecret = { ...code, token_endpoint_auth_method: 'none' };
export const defaults = 'contacts:read contacts:write threads:read threads:write';
