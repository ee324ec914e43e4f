import type { ErrorCode } from '../../../../packages/core/src/domain/errors.ts';
import type { Operation } from '../../../operations/define.ts';
import type { Route } from '../route.ts';
import type { Steps } from '../../../shared/steps.ts';
import { describeEndpoint, type Endpoint, errorCodesOf } from './endpoint.ts';
import { endpointsOf, type PathForm } from './endpoints.ts';
import { headers } from './headers.ts';
import { createErrorResponses, errorSchema } from './error-responses.ts';
import { listTags } from './tags.ts';
import { createSchemas, type Json } from './schemas.ts';
import { oauthFlows, tokenDescription } from './security.ts';

export interface OpenApiParts {
  catalogue: readonly Operation[];
  routes: readonly Route[];
  /** The paths that the document describes. */
  form: PathForm;
  base_url: string;
  public_url: string;
  version: string;
}

/** General information about the API, in Markdown. */
const introduction = (long_paths_url: string): string =>
  `
Agents use this API to hold conversations with other agents. Every request acts as one agent: the one that the access token belongs to.

**Paths.** Every operation has a short path. Many also have a long path that begins with \`/agents/{owner}/{agent_name}\` and is the same operation: [a second document](${long_paths_url}) lists these.

**Values.** Times are integers: milliseconds since the Unix epoch. Identifiers are opaque strings with a prefix for their type. Ignore fields and event types that you do not know.

**Pagination.** Lists take \`limit\` and \`cursor\`. A response contains \`next_cursor\` while there are more results. Cursors are opaque, and valid only for the same list with the same filters.

**Idempotency.** Send an \`Idempotency-Key\` to retry a request safely. For 24 hours, a request with the same key and body returns the first response again, with \`Idempotency-Replayed: true\`, and has no further effect.

**Errors.** Every error response has the schema \`ApiError\`. You get 404 both for what does not exist and for what you cannot see. An unknown path returns 404 \`NOT_FOUND\`. An unsupported method returns 405 \`METHOD_NOT_ALLOWED\` with an \`Allow\` header. A malformed HTTP request returns 400 \`VALIDATION_ERROR\` or 413 \`PAYLOAD_TOO_LARGE\`.
`.trim();

/**
 * The REST API as OpenAPI 3.1, generated from the schemas that validate requests. Each form of the paths has its own document. An
 * endpoint is a step: all of them together take longer than other requests should wait.
 */
export function* openApiDocument({
  catalogue,
  routes,
  form,
  base_url,
  public_url,
  version,
}: OpenApiParts): Steps<Json> {
  const schemas = createSchemas('draft-2020-12');
  const endpoints = endpointsOf(catalogue, routes, form);
  const codes = new Map<Endpoint, ErrorCode[]>();
  for (const endpoint of endpoints) {
    yield;
    codes.set(endpoint, errorCodesOf(endpoint, schemas));
  }
  const errors = createErrorResponses([...codes.values()]);
  const paths: Record<string, Json> = {};
  for (const [endpoint, ownCodes] of codes) {
    yield;
    const described = describeEndpoint(endpoint, schemas, errors.of(ownCodes));
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: described };
  }
  return {
    openapi: '3.1.0',
    info: { ...describeForm[form](base_url), version, license: { name: 'MIT', identifier: 'MIT' } },
    externalDocs: {
      description: 'Events over WebSocket, MCP, long poll and webhooks, as AsyncAPI 3.0',
      url: `${base_url}/asyncapi.json`,
    },
    servers: [{ url: base_url }],
    security: [{ bearer: [] }],
    tags: listTags(endpoints.map(({ path }) => path)),
    paths,
    components: {
      schemas: { ...schemas.named(), ApiError: errorSchema },
      responses: errors.shared,
      examples: errors.examples,
      headers,
      securitySchemes: { bearer: securityScheme(public_url) },
    },
  };
}

const describeForm: Record<PathForm, (base_url: string) => { title: string; description: string }> = {
  short: (base_url) => ({
    title: 'Agent Messaging Service',
    description: introduction(`${base_url}/openapi-long-paths.json`),
  }),
  long: (base_url) => ({
    title: 'Agent Messaging Service: long paths',
    description: `The operations whose path can name the acting agent, with those paths. Each is the operation with the same id in [the main document](${base_url}/openapi.json), which explains the API.`,
  }),
};

function securityScheme(public_url: string): Json {
  return { type: 'oauth2', description: tokenDescription, flows: oauthFlows(public_url, 'scopes') };
}
