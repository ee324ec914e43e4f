import { offeredScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { commandLineClient } from '../http/authorization-requests.ts';
import type { TokenAudience, TokenResource } from '../../services/auth/tokens.ts';

/** Scopes advertised per resource. Clients request what is advertised. */
const advertisedScopes: Record<TokenAudience, readonly string[]> = {
  api: offeredScopes,
  mcp: offeredScopes.filter((scope) => /^(contacts|threads):/.test(scope)),
  ws: offeredScopes.filter((scope) => scope.endsWith(':read') && scope !== 'agents:read'),
};

/** Protected resource metadata (RFC 9728, section 3.2). */
export function resourceMetadata(
  audience: TokenAudience,
  issuer: string,
  resources: Record<TokenResource, string>,
) {
  return {
    resource: resources[audience],
    authorization_servers: [issuer],
    scopes_supported: advertisedScopes[audience],
    bearer_methods_supported: ['header'],
  };
}

/** The provider's metadata fields that apply to OAuth without OpenID Connect (RFC 8414 and extensions). */
const servedMetadataFields = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'jwks_uri',
  'registration_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
  'grant_types_supported',
  'response_types_supported',
  'code_challenge_methods_supported',
  'token_endpoint_auth_methods_supported',
  'authorization_response_iss_parameter_supported',
  'client_id_metadata_document_supported',
];

/**
 * Authorization server metadata (RFC 8414) from the provider's metadata: without unsupported and OpenID Connect fields, with
 * addresses of the issuer instead of the request's Host, and with scopes and resources (MCP first).
 */
export function serverMetadata(
  discovered: Record<string, unknown>,
  issuer: string,
  resources: Record<TokenResource, string>,
): Record<string, unknown> {
  const fields = servedMetadataFields.map((field) => [
    field,
    toIssuerAddress(field, discovered[field], issuer),
  ]);
  const orderedResources = [resources.mcp, resources.api, resources.ws];
  return {
    ...Object.fromEntries(fields),
    response_modes_supported: ['query'],
    revocation_endpoint_auth_methods_supported: discovered['token_endpoint_auth_methods_supported'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    scopes_supported: offeredScopes,
    // Not registered: the client with which `am` signs in.
    command_line_client_id: commandLineClient.client_id,
    protected_resources: orderedResources,
    resource_servers: orderedResources.map((resource) => ({ resource })),
  };
}

function toIssuerAddress(field: string, value: unknown, issuer: string): unknown {
  if (typeof value !== 'string' || !/_(endpoint|uri)$/.test(field)) return value;
  return `${issuer}${new URL(value).pathname}`;
}
