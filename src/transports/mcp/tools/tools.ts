import type { ContentBlock, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import { openTaskStates } from '../../../../packages/core/src/domain/tasks.ts';
import type { Operation, ToolBinding } from '../../../operations/define.ts';
import type { LiveEvent, WaitPosition } from '../../../realtime/contract.ts';
import type { Exchange } from '../protocol/exchange.ts';
import type { Move, Position } from '../sessions/places.ts';
import { addTimeTexts } from './time-texts.ts';
import { coerceArguments } from './coerce-arguments.ts';
import { acceptedSchema, inputSchema, outputSchema } from './json-schemas.ts';
import { findPageField } from './fit-result.ts';

export interface Tool {
  operation: Operation;
  /** The entry in `tools/list`. */
  definition: ToolDefinition;
  /** Converts arguments as models write them to the types of the input. */
  coerce(args: Record<string, unknown>): Record<string, unknown>;
  /** The input field that limits the number of items of a read. */
  page_field: string | undefined;
  /** Makes the result from the output of the operation, where they differ. */
  toResult?(output: object): object;
  /** Whether the result shows the feed status. */
  showsFeed: boolean;
  /** Checks permissions that the scope of the operation does not cover. @throws {DomainError} INSUFFICIENT_SCOPE */
  requirePermission?(actor: Actor): void;
  /** Whether a call may wait for something to happen. */
  waits?: boolean;
  /** The feed position in the output, for tools that move in the feed. The feed status is then read after the call. */
  feedCursor?(output: Record<string, unknown>): unknown;
  /** The id of the open task that a call without an answer continues as. */
  openTaskOf?(output: object): string | undefined;
  /** Content blocks for the output. Default: JSON text. */
  content?(output: Record<string, unknown>): ContentBlock[];
  /** Whether only views call it: hosts hide it from the model. */
  isForViews?: true;
  /** Fields of `_meta` for the output, as the caller gets it. */
  metaOf?(output: object, actor: Actor): object;
  /** Whether the tool answers only with tasks. */
  needsTasks?: true;
  /** Whether the tool may send messages before its result. */
  sendsMessages?: true;
  /** Creates the operation that runs in place of `operation`, for tools that need the exchange with the client. */
  createRun?(call: { position: Position | undefined; exchange: Exchange }): ToolRun;
}

export interface ToolRun {
  operation: Operation;
  /** What the result shows. */
  shown?(): ShownEvents;
}

/** The events that a result shows, and how it moves the place of the caller once it was sent. */
export interface ShownEvents {
  events: readonly Pick<LiveEvent, 'message'>[];
  move: Move;
}

/** The position of a caller, after what a result shows. */
export function toWaitPosition(position: Position | undefined, move?: Move): WaitPosition | undefined {
  if (!position) return undefined;
  const returned = position.returned.filter((id) => !move?.passed.includes(id));
  return { cursors: [position.cursor, move?.cursor], returned: [...returned, ...(move?.returned ?? [])] };
}

/**
 * Creates the tools of the catalogue and other tools, by name. `whoami` is the first: a client that tries the first tool of the list gets
 * an answer at once. Called once at start: creating schemas is slow.
 */
export function createTools(
  catalogue: readonly Operation[],
  others: readonly Tool[] = [],
): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  const add = (tool: Tool) => {
    const { name } = tool.definition;
    if (tools.has(name)) throw new Error(`duplicate tool name: ${name}`);
    tools.set(name, tool);
  };
  for (const operation of catalogue) {
    const binding = operation.tool;
    if (!binding) continue;
    add(createTool(operation, binding));
  }
  for (const tool of others) add(tool);
  return tools;
}

const unanswered = z.object({
  reply: z.null(),
  task: z.object({ id: z.string(), state: z.enum(openTaskStates) }),
});

/** The task of a question that is not answered. */
function openTaskOf(output: object): string | undefined {
  return unanswered.safeParse(output).data?.task.id;
}

/** Creates one tool from an operation. */
export function createTool(
  operation: Operation,
  {
    name = operation.name,
    description,
    annotations,
    result,
    showsFeed = false,
    unpublished = [],
  }: ToolBinding,
): Tool {
  const hasKey = operation.kind === 'write' && !operation.itemWait;
  const published = inputSchema(operation.input, hasKey, unpublished);
  const page_field = findPageField(operation, published);
  const mayBeCut = Boolean(page_field ?? operation.reply ?? operation.itemWait);
  const schemas = {
    inputSchema: published,
    outputSchema: outputSchema(result?.schema ?? operation.output, { showsFeed, mayBeCut }),
  };
  const definition = { name, title: operation.summary, description, ...schemas, annotations };
  // The published schema is simpler than the accepted one: the latter tells where null and objects are meant.
  const accepted = acceptedSchema(operation.input, hasKey);
  return {
    operation,
    definition,
    toResult: (output) => addTimeTexts(result ? result.from(output) : output) as object,
    showsFeed,
    // The output of a waiting operation has a position of its own.
    ...(operation.reply && { feedCursor: ({ cursor }) => cursor }),
    ...(operation.reply && operation.kind === 'write' && { openTaskOf }),
    waits: operation.reply !== undefined || operation.itemWait !== undefined,
    coerce: (args) => coerceArguments(args, accepted),
    page_field,
  };
}
