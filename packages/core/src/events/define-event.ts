import type { z } from 'zod';
import type { Scope } from '../domain/auth/scopes.ts';

/** A resource of MCP; `{thread_id}` is the thread of the event. */
type ChangedResource = 'service://contacts' | 'service://threads' | 'service://threads/{thread_id}';

/** An event: defined once, for every transport. A new event is one such definition. */
export interface EventDefinition<Type extends string = string, Data extends z.ZodObject = z.ZodObject> {
  type: Type;
  /** Short text for people. */
  label: string;
  /** The scope that shows it. */
  scope: Scope;
  /** Whether it can be an item of an inbox. Receipts and the loss of items are news, not work: no item can cause an item of another inbox by itself. */
  isInboxItem: boolean;
  /** The filters of a subscription, besides `with_handle`. */
  filters: readonly ('thread_id' | 'only_mentions')[];
  /** The agents that the data names, by handle: the filter `with_handle`. Not from texts and metadata, which their senders write. */
  handles?(data: z.infer<Data>): string[];
  /** The resources that it changes. */
  resources: readonly ChangedResource[];
  /** Whether the search finds the message of the event. */
  isIndexed?: true;
  /** The public data. Fields that differ between viewers are not part of it. */
  data: Data;
  /** Makes the public data from the stored data, before it is parsed. Absent: they are the same. */
  present?(stored: object): object;
  example: z.infer<Data>;
}

/** Infers the type of an event from its definition. */
export function defineEvent<const Type extends string, Data extends z.ZodObject>(
  definition: EventDefinition<Type, Data>,
): EventDefinition<Type, Data> {
  return definition;
}
