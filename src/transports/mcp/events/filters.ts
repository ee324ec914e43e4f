import { z } from 'zod';
import { parseHandle } from '../../../../packages/core/src/domain/agents/handles.ts';
import { type EventFilter, filtersOf } from '../../../../packages/core/src/events/event-filter.ts';
import type { EventType } from '../../../../packages/core/src/events/list.ts';
import { agentHandle, threadId } from '../../../../packages/core/src/inputs/fields.ts';
import { parseInput } from '../../../../packages/core/src/inputs/parse-input.ts';

const filterFields = {
  thread_id: threadId.describe('Only events of this thread.').optional(),
  with_handle: agentHandle
    .describe(
      'Only events that name this agent: messages that it sent, threads that it is a member of, its receipts, its contact. Case does not matter; a leading @ is accepted.',
    )
    .optional(),
  only_mentions: z.boolean().describe('Only messages whose text names you as @owner.agent_name.').optional(),
};

/** The schema of the arguments of a subscription to events of this type. */
export function argumentsOf(type: EventType): z.ZodObject {
  const filters: readonly string[] = filtersOf(type);
  return z.strictObject(
    Object.fromEntries(Object.entries(filterFields).filter(([name]) => filters.includes(name))),
  );
}

const anyArguments = z.object(filterFields);

/**
 * Reads the arguments of a subscription as a client sent them.
 * @throws {DomainError} VALIDATION_ERROR, INVALID_HANDLE
 */
export function readFilter(type: EventType, args: unknown): EventFilter {
  const { with_handle, ...filter } = anyArguments.parse(parseInput(argumentsOf(type), args));
  return { ...filter, ...(with_handle !== undefined && { with_handle: parseHandle(with_handle).canonical }) };
}
