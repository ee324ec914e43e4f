import type { Json } from '../openapi/schemas.ts';
import { renderDocsPage } from './layout.tsx';
import { Markdown } from './markdown.tsx';
import { Example, Fields, type Schema, Schemas, Type } from './schema-fields.tsx';

interface Message {
  name: string;
  summary?: string;
  description?: string;
  /** Only events have tags. */
  tags?: Json[];
  headers?: Schema;
  payload: Schema;
  examples: { headers?: Json; payload: Json }[];
}

interface Channel {
  address: string | null;
  title: string;
  description: string;
  messages: Record<string, Message>;
}

/** The parts of the AsyncAPI document that the page shows. */
interface EventsDocument {
  info: { title: string; version: string; description: string };
  channels: Record<string, Channel>;
  operations: Record<string, { action: string; messages: { $ref: string }[]; bindings?: Bindings }>;
  components: { schemas: Record<string, Schema> };
}

interface Bindings {
  http?: { query?: Schema };
}

/** `/docs/events`: the AsyncAPI document as a page. */
export function eventsPage(folder: string, document: Json): string {
  const { info, channels, components, operations } = document as unknown as EventsDocument;
  const transports = Object.entries(channels);
  const events = Object.values(transports[0]?.[1].messages ?? {}).filter(isEvent);
  const received = new Set(
    Object.values(operations)
      .filter(({ action }) => action === 'receive')
      .flatMap(({ messages }) => messages.map(({ $ref }) => $ref)),
  );
  return renderDocsPage({
    title: 'Events',
    path: '/docs/events',
    folder,
    contents: [
      ['Transports', transports.map(([id, { title }]) => [`#${id}`, title] as const)],
      ['Event types', events.map(({ name }) => [`#${name}`, name] as const)],
      ['More', [['#schemas', 'Schemas']]],
    ],
    children: (
      <>
        <h1>Events</h1>
        <Markdown text={info.description} />
        <p>
          This page shows the <a href="/v1/asyncapi.json">AsyncAPI document</a>, version {info.version}.
        </p>
        {transports.map(([id, channel]) => (
          <Transport
            key={id}
            id={id}
            channel={channel}
            query={queryOf(document, id)}
            isReceived={(name) => received.has(`#/channels/${id}/messages/${name}`)}
          />
        ))}
        <section aria-labelledby="event-types">
          <h2 id="event-types">Event types</h2>
          {events.map((event) => (
            <MessageDetails key={event.name} message={event} id={event.name} />
          ))}
        </section>
        <Schemas schemas={components.schemas} />
      </>
    ),
  });
}

function isEvent({ tags }: Message): boolean {
  return tags !== undefined;
}

/** The query of the request that opens a transport. */
function queryOf(document: Json, id: string): Schema | undefined {
  const { channels, operations } = document as {
    channels: Record<string, { bindings?: { ws?: { query?: Schema } } }>;
    operations: Record<string, { channel: { $ref: string }; bindings?: Bindings }>;
  };
  const own = Object.values(operations).find(({ channel }) => channel.$ref === `#/channels/${id}`);
  return channels[id]?.bindings?.ws?.query ?? own?.bindings?.http?.query;
}

interface TransportProps {
  id: string;
  channel: Channel;
  query: Schema | undefined;
  /** Whether clients send a message. */
  isReceived(name: string): boolean;
}

function Transport({ id, channel, query, isReceived }: TransportProps) {
  const { title, address, description } = channel;
  const messages = Object.values(channel.messages);
  const event = messages.find(isEvent);
  const others = messages.filter((message) => !isEvent(message));
  const groups = [
    ['The service sends', others.filter(({ name }) => !isReceived(name))],
    ['Clients send', others.filter(({ name }) => isReceived(name))],
    ['An event', event ? [event] : []],
  ] as const;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>
        Address: <code>{address ?? 'the URL of your webhook'}</code>
      </p>
      <Markdown text={description} />
      {query && (
        <>
          <h3>Query of {title}</h3>
          <Fields schema={query} />
        </>
      )}
      {groups
        .filter(([, shown]) => shown.length > 0)
        .map(([name, shown]) => (
          <div key={name} class="group">
            <h3>{name}</h3>
            {shown.map((message) => (
              <MessageDetails key={message.name} message={message} />
            ))}
          </div>
        ))}
    </section>
  );
}

function MessageDetails({ message, id }: { message: Message; id?: string }) {
  const { name, summary, description, headers, payload, examples } = message;
  return (
    <details>
      <summary>
        <code>{name}</code> <span>{summary}</span>
      </summary>
      <div id={id} class="group">
        {description !== undefined && <Markdown text={description} />}
        {headers && <Fields schema={headers} />}
        {payload.$ref === undefined ? (
          <Fields schema={payload} />
        ) : (
          <p>
            Schema: <Type schema={payload} />
          </p>
        )}
        {examples.map((example, place) => (
          <Example of={example.headers ? example : example.payload} key={place} />
        ))}
      </div>
    </details>
  );
}
