import { openSseStream, type SseClient } from '../sse.ts';
import { askStateless, buildStatelessRequest } from './stateless-request.ts';

/** Capabilities of a client of SEP-3415. */
export const declaresEvents = { extensions: { 'io.modelcontextprotocol/events': {} } };

export interface EventQuery {
  name: string;
  arguments?: Record<string, unknown> | null;
  cursor?: string | null;
  maxAgeMs?: number;
  maxEvents?: number;
}

export interface Occurrence {
  eventId: string;
  name: string;
  timestamp: string;
  data: Record<string, unknown>;
  cursor?: string;
  _meta?: Record<string, unknown>;
}

export interface PolledPage {
  events: Occurrence[];
  cursor: string;
  truncated: boolean;
  hasMore: boolean;
  nextPollMs: number;
}

/** `events/poll`. @throws {Error} when the service answers with an error. */
export async function pollEvents(url: string, token: string, query: EventQuery): Promise<PolledPage> {
  const answer = await askStateless(url, token, { method: 'events/poll', params: { ...query } });
  if (!answer.result) throw new Error(JSON.stringify(answer.error));
  return answer.result as unknown as PolledPage;
}

export interface EventFrame {
  method?: string;
  id?: unknown;
  result?: unknown;
  params?: Partial<Occurrence> & { truncated?: boolean; error?: object };
}

/** Opens `events/stream`. @throws {Error} with the status and the body when the service refuses. */
export async function streamEvents(
  url: string,
  token: string,
  query: EventQuery,
  capabilities: object = {},
): Promise<SseClient & { frames(count: number): Promise<EventFrame[]> }> {
  const request = { method: 'events/stream', params: { ...query }, id: 'events', capabilities };
  const { headers, message } = buildStatelessRequest(request);
  const stream = await openSseStream(
    `${url}/mcp`,
    { ...headers, Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    JSON.stringify(message),
  );
  return {
    ...stream,
    async frames(count) {
      return (await stream.events(count)).map(({ data }) => JSON.parse(data) as EventFrame);
    },
  };
}
