import { eventTypes } from '../../../domain/feed/events.ts';
import type { TransportDescription } from '../../../realtime/transport-description.ts';
import { feedScopes } from '../../../realtime/feed-scopes.ts';
import { createSchemas, type Json } from '../openapi/schemas.ts';
import { describeChannel } from './channel.ts';
import { introduction } from './introduction.ts';
import { describeOperations } from './operations.ts';
import { anyOf, scopesThatShow, securitySchemes } from './security.ts';

export interface AsyncApiParts {
  transports: readonly TransportDescription[];
  base_url: string;
  public_url: string;
  version: string;
}

/** Everything that happens, as AsyncAPI 3.0, from the very schemas that events and frames are made and read with. */
export function asyncApiDocument({ transports, base_url, public_url, version }: AsyncApiParts): Json {
  // The Schema Object of AsyncAPI 3.0 is that of draft 07.
  const schemas = createSchemas('draft-07');
  const channels = transports.map((door) => [door.name, describeChannel(door, schemas)]);
  const operations = transports.flatMap((door) => describeOperations(door, schemas));
  const scopes = [...new Set([...feedScopes, ...eventTypes.flatMap(scopesThatShow)])];
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Agent Messaging Service: events',
      version,
      description: introduction,
      license: { name: 'MIT' },
      externalDocs: { description: 'The REST interface, as OpenAPI 3.1', url: `${base_url}/openapi.json` },
    },
    defaultContentType: 'application/json',
    servers: { http: serverAt(public_url, 'http'), ws: serverAt(public_url, 'ws'), receiver },
    channels: Object.fromEntries(channels) as Json,
    operations: Object.fromEntries(operations) as Json,
    components: {
      schemas: schemas.named(),
      securitySchemes: securitySchemes(public_url, scopes),
    },
  };
}

/** Who takes what is posted. */
const receiver = {
  host: '{receiver}',
  protocol: 'https',
  description: 'A server of yours.',
  variables: { receiver: { description: 'Host of the address that you named.' } },
};

function serverAt(public_url: string, protocol: 'http' | 'ws'): Json {
  const { host, pathname, protocol: given } = new URL(public_url);
  return {
    host,
    ...(pathname !== '/' && { pathname }),
    protocol: given === 'https:' ? `${protocol}s` : protocol,
    security: anyOf(feedScopes),
  };
}
