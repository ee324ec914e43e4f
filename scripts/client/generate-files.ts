import { aliases } from '../../src/operations/aliases.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/operations/define.ts';
import { eventTransports } from '../../src/start/transports.ts';
import { asyncApiDocument } from '../../src/transports/rest/asyncapi/document.ts';
import { cardRoute } from '../../src/transports/rest/card.ts';
import { eventRoutes } from '../../src/transports/rest/events.ts';
import { openApiDocument } from '../../src/transports/rest/openapi/document.ts';
import type { Route } from '../../src/transports/rest/route.ts';
import { streamTicketRoutes } from '../../src/transports/rest/stream-tickets.ts';
import { generateEventFile, listEventData } from './event-file.ts';
import { assignRecords, generateNounFiles } from './noun-files.ts';
import { renderPythonOperations } from './python-operations.ts';
import { listRecords, type OpenApiDocument, readOperations } from './read-operations.ts';
import { type Schema, TypeFormatter } from './schema-types.ts';
import { runAtOnce } from '../../src/shared/steps.ts';

const about = {
  base_url: 'http://localhost:3000/v1',
  public_url: 'http://localhost:3000',
  version: '0.0.0',
};

/** A part of the service that only requests use. There are none here. */
const unused = {} as never;

/** The endpoints that are no operations. Only the Python client has them as generated methods. */
const listRoutes = (): Route[] => [
  ...eventRoutes(unused, unused, new AbortController().signal),
  ...streamTicketRoutes(unused, unused),
  cardRoute({ readCard: unused, authenticate: unused, limited: unused }),
];

/** The description of the operations. A generator reads a part of it; a property that is missing shows in its types. */
function describeCalls(operations: readonly Operation[], routes: readonly Route[]): OpenApiDocument {
  const parts = { catalogue: operations, routes, form: 'short' as const, ...about };
  const document: unknown = runAtOnce(openApiDocument(parts));
  return document as OpenApiDocument;
}

/** Generates the module of the Python client with the operations. Only this client has the aliases as methods. */
export function generatePythonFile(): string {
  return renderPythonOperations(describeCalls([...catalogue, ...aliases], listRoutes()));
}

/** Generates the files of packages/client/src/generated: their names and their texts. */
export function generateClientFiles(): Map<string, string> {
  const calls = describeCalls(catalogue, []);
  const events: unknown = runAtOnce(asyncApiDocument({ transports: eventTransports, ...about }));
  const { paths, components } = calls;
  const { schemas } = (events as OpenApiDocument).components;

  const operations = readOperations(paths);
  const records = { AgentReference: agentReference, ...listRecords(operations, components.schemas) };
  const formatter = new TypeFormatter(records);
  const homes = assignRecords(operations, records, formatter);
  const data = new Set(listEventData(schemas).map((event) => event.data.$ref?.split('/').at(-1)));
  const named = Object.entries(schemas).filter(([name]) => data.has(name));
  const eventFormatter = new TypeFormatter({ ...records, ...Object.fromEntries(named) });
  return new Map([
    ...generateNounFiles({ operations, records, homes, formatter }),
    ['event-data.ts', generateEventFile(schemas, homes, eventFormatter)],
  ]);
}

/** The documents write it out wherever it is; as a record it makes the types short. */
const agentReference: Schema = {
  description: 'An agent by id and handle.',
  properties: {
    id: { type: 'string', description: 'Agent identifier, agt_…' },
    canonical_handle: { type: 'string', description: 'owner.agent_name, in lower case.' },
  },
  required: ['id', 'canonical_handle'],
};
