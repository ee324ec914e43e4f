import { eventTransports } from '../../../src/start/transports.ts';
import { asyncApiDocument } from '../../../src/transports/rest/asyncapi/document.ts';
import type { Reference, Schema } from '../openapi/document.ts';
import { runAtOnce } from '../../../src/shared/steps.ts';

/** The parts of an AsyncAPI 3.0 document that tests read. */
export interface AsyncApiDocument {
  asyncapi: string;
  info: { version: string };
  channels: Record<string, ChannelObject>;
  operations: Record<string, OperationObject>;
  components: Record<string, Record<string, object>>;
}

export interface ChannelObject {
  address: string | null;
  messages: Record<string, MessageObject>;
}

export interface MessageObject {
  name: string;
  summary: string;
  description?: string;
  headers?: Schema;
  payload: Schema;
  examples: { headers?: unknown; payload: unknown }[];
}

export interface OperationObject {
  action: 'send' | 'receive';
  channel: Reference;
  security: Reference[];
  messages: Reference[];
  reply?: { channel: Reference; messages: Reference[] };
}

/** What a service at these addresses serves at `/v1/asyncapi.json`, made without a service. */
export function buildAsyncApiDocument(
  public_url = 'http://localhost:3000',
  version = '0.1.0',
): AsyncApiDocument {
  const document = runAtOnce(
    asyncApiDocument({
      transports: eventTransports,
      base_url: `${public_url}/v1`,
      public_url,
      version,
    }),
  );
  return document as unknown as AsyncApiDocument;
}
