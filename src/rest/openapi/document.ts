import { type ErrorCode, errorStatuses } from '../../domain/errors.ts';
import type { Scope } from '../../domain/scopes.ts';
import type { Operation } from '../../operations/define.ts';
import type { Route } from '../route.ts';
import { describeEndpoint } from './endpoint.ts';
import { endpointsOf } from './endpoints.ts';
import { headers } from './headers.ts';
import { introduction } from './introduction.ts';
import { errorSchema, refusalExample, refusalResponse } from './refusals.ts';
import { tagsOf } from './rooms.ts';
import { createSchemas, type Json } from './schemas.ts';

export interface OpenApiParts {
  catalogue: readonly Operation[];
  routes: readonly Route[];
  base_url: string;
  public_url: string;
  version: string;
}

/** The REST interface as OpenAPI 3.1, from the very schemas that validate. */
export function openApiDocument({ catalogue, routes, base_url, public_url, version }: OpenApiParts): Json {
  const schemas = createSchemas();
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
    servers: [{ url: base_url }],
    security: [{ oauth: [] }],
    tags: tagsOf(endpoints.map(({ path }) => path)),
    paths,
    components: {
      schemas: { ...schemas.named(), Error: errorSchema },
      responses: Object.fromEntries(shared.map((code) => [code, refusalResponse([code])])),
      examples: Object.fromEntries(shown.map((code) => [code, refusalExample(code)])),
      headers,
      securitySchemes: { oauth: securityScheme(public_url) },
    },
  };
}

const granted: Record<Scope, string> = {
  'threads:read': 'Read threads, messages and their events.',
  'threads:write': 'Start threads, send messages, change status and members.',
  'contacts:read': 'Read contacts, requests, blocks and their events.',
  'contacts:write': 'Ask for contact, answer requests, remove and block.',
  'agents:read': 'Read and search agents.',
  'agents:write': 'Register, change and delete agents.',
  'realtime:read': 'Follow every event.',
};

function securityScheme(public_url: string): Json {
  const flow = { tokenUrl: `${public_url}/token`, refreshUrl: `${public_url}/token`, scopes: granted };
  return {
    type: 'oauth2',
    description: 'An access token acts as one agent, for 15 minutes.',
    flows: {
      clientCredentials: { tokenUrl: flow.tokenUrl, scopes: granted },
      authorizationCode: { ...flow, authorizationUrl: `${public_url}/authorize` },
    },
  };
}
