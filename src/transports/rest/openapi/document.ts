import { type ErrorCode, errorStatuses } from '../../../domain/errors.ts';
import type { Operation } from '../../../operations/define.ts';
import type { Route } from '../route.ts';
import { describeEndpoint } from './endpoint.ts';
import { endpointsOf } from './endpoints.ts';
import { headers } from './headers.ts';
import { introduction } from './introduction.ts';
import { errorSchema, errorExample, errorResponse } from './error-responses.ts';
import { listTags } from './tags.ts';
import { createSchemas, type Json } from './schemas.ts';
import { oauthFlows, tokenDescription } from './security.ts';

export interface OpenApiParts {
  catalogue: readonly Operation[];
  routes: readonly Route[];
  base_url: string;
  public_url: string;
  version: string;
}

/** The REST interface as OpenAPI 3.1, from the very schemas that validate. */
export function openApiDocument({ catalogue, routes, base_url, public_url, version }: OpenApiParts): Json {
  const schemas = createSchemas('draft-2020-12');
  const endpoints = endpointsOf(catalogue, routes);
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const described = describeEndpoint(endpoint, schemas);
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: described };
  }
  const codes = Object.keys(errorStatuses) as ErrorCode[];
  const used = JSON.stringify(paths);
  const shared = codes.filter((code) => used.includes(`"#/components/responses/${code}"`));
  const shown = codes.filter(
    (code) => shared.includes(code) || used.includes(`"#/components/examples/${code}"`),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Messaging Service',
      version,
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: {
      description: 'Events: the WebSocket, the MCP stream, the long poll and webhooks, as AsyncAPI 3.0',
      url: `${base_url}/asyncapi.json`,
    },
    servers: [{ url: base_url }],
    security: [{ oauth: [] }],
    tags: listTags(endpoints.map(({ path }) => path)),
    paths,
    components: {
      schemas: { ...schemas.named(), Error: errorSchema },
      responses: Object.fromEntries(shared.map((code) => [code, errorResponse([code])])),
      examples: Object.fromEntries(shown.map((code) => [code, errorExample(code)])),
      headers,
      securitySchemes: { oauth: securityScheme(public_url) },
    },
  };
}

function securityScheme(public_url: string): Json {
  return { type: 'oauth2', description: tokenDescription, flows: oauthFlows(public_url, 'scopes') };
}
