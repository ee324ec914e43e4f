import { mayAskPerson } from '../../../operations/execute/context.ts';
import { hasFeedScope } from '../../../../packages/core/src/events/feed-scopes.ts';
import type { FeedHead, FeedStatus } from '../../../realtime/contract.ts';
import type { Caller, Exchange } from '../protocol/exchange.ts';
import type { McpParts } from '../parts.ts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { wrongField } from '../../../../packages/core/src/domain/errors.ts';
import { replyOf } from '../../../operations/execute/await-reply.ts';
import { idempotencyKeyPattern, maxWaitSeconds } from '../../../../packages/core/src/inputs/fields.ts';
import { createApprover } from '../approvals/approver.ts';
import { type OperationCall, toOperationError, runOperation } from './run-operation.ts';
import { defaultProgressMs, withProgress } from './progress.ts';
import { type ShownEvents, type Tool, toWaitPosition } from './tools.ts';
import type { Move, Position } from '../sessions/places.ts';

interface ToolCall {
  tool: Tool;
  args: Record<string, unknown>;
  exchange: Exchange;
  /** Whether a rate limit has counted the call. */
  already_consumed?: boolean;
}

/**
 * Calls a tool (MCP, Tools: Calling Tools). Never throws: an error is a result with `isError` and the REST error body as text. It
 * has no structured content, because clients validate that against the output schema. `_meta` has the feed status of the agent.
 */
export async function callTool(
  parts: McpParts,
  caller: Caller,
  { tool, args: rawArgs, exchange, already_consumed }: ToolCall,
): Promise<CallToolResult> {
  const args = tool.coerce(rawArgs);
  const { actor } = caller;
  let position: Position | undefined;
  let before: FeedStatus | undefined;
  try {
    position = hasFeedScope(actor) ? await caller.place?.read() : undefined;
    if (!tool.feedCursor) before = await readFeedStatus(parts, caller, position, { head: position?.head });
    const approver = mayAskPerson(tool.operation) ? createApprover(parts, caller, exchange) : undefined;
    const run = tool.createRun?.({ position, exchange });
    const call = {
      ...toOperationCall(tool, args, caller),
      ...(run && { operation: run.operation }),
      approver,
      signal: exchange.signal,
      already_consumed,
      // A task can be polled, so its question need not wait.
      followsTask: Boolean(tool.openTaskOf && exchange.continueAs) && args['wait_seconds'] === undefined,
    };
    const from = { ...caller, actor: { ...actor, feed_cursor: position?.cursor } };
    const fitted = await runWithProgress(parts, exchange, tool, () => runOperation(parts, from, call));
    const task = tool.openTaskOf?.(fitted.value);
    if (task !== undefined) exchange.continueAs?.(task);
    const shown = run?.shown?.() ?? shownReply(fitted.value);
    if (shown) await settleAfterwards(parts, caller, { exchange, position, shown });
    const meta =
      before ?? (await readStatusAfter(parts, caller, { tool, position, shown, output: fitted.value }));
    // Several clients hide _meta from the model.
    const isShown = tool.showsFeed && meta !== undefined;
    const value = isShown ? { ...fitted.value, ...meta } : fitted.value;
    const text = isShown ? JSON.stringify(value) : fitted.text;
    const content = tool.content?.(value) ?? [{ type: 'text', text }];
    const more = tool.metaOf?.(value, actor);
    return { content, structuredContent: value, ...((meta ?? more) && { _meta: { ...meta, ...more } }) };
  } catch (thrown) {
    const { body } = toOperationError(parts, caller, { operation: tool.operation, args }, thrown);
    const content = [{ type: 'text' as const, text: JSON.stringify(body) }];
    const meta = before ?? (await readFeedStatus(parts, caller, position));
    return { isError: true, content, ...(meta && { _meta: { ...meta } }) };
  }
}

/** The feed status after a call, at the position in its output. */
async function readStatusAfter(
  parts: McpParts,
  caller: Caller,
  result: {
    tool: Tool;
    position: Position | undefined;
    shown: ShownEvents | undefined;
    output: Record<string, unknown>;
  },
): Promise<FeedStatus | undefined> {
  const { tool, position, shown, output } = result;
  const status = await readFeedStatus(parts, caller, position, { move: shown?.move });
  const cursor = tool.feedCursor?.(output);
  return status && { ...status, ...(typeof cursor === 'string' && { cursor }) };
}

/** The reply that a result shows. The caller does not get it again from a wait. */
function shownReply(output: Record<string, unknown>): ShownEvents | undefined {
  const reply = replyOf(output);
  if (!reply) return undefined;
  const { id, thread_id, sequence, sender } = reply;
  const message = { thread_id, sequence, sender_id: sender.id };
  return { events: [{ message }], move: { returned: [id], passed: [] } };
}

/** Counts what a result shows as delivered, and moves the place of the caller, once the whole response was sent. */
async function settleAfterwards(
  { realtime }: McpParts,
  { actor, place, onResponseEnd }: Caller,
  result: { exchange: Exchange; position: Position | undefined; shown: ShownEvents },
): Promise<void> {
  const { events, move } = result.shown;
  const { signal } = result.exchange;
  const { cursor = result.position?.cursor, returned, passed } = move;
  const moves = cursor !== result.position?.cursor || returned.length > 0 || passed.length > 0;
  if (moves) await place?.announce();
  onResponseEnd((isSent) => {
    // A cancelled call has no result.
    const isReceived = isSent && !signal.aborted;
    if (isReceived) realtime.markDelivered(actor, events);
    if (moves) place?.settle(isReceived ? move : undefined);
  });
}

/** Runs a call; reports progress while it waits. */
function runWithProgress<T>(
  { progress_ms = defaultProgressMs }: McpParts,
  { progress }: Exchange,
  { operation }: Tool,
  run: () => Promise<T>,
): Promise<T> {
  return operation.reply || operation.itemWait
    ? withProgress({ progress, progress_ms }, maxWaitSeconds * 1_000, run)
    : run();
}

/** Splits the arguments of a writing tool into input and idempotency key. */
function toOperationCall(
  { operation, definition, page_field, toResult }: Tool,
  ownArgs: Record<string, unknown>,
  { session }: Caller,
): OperationCall {
  const fields = Object.keys(definition.inputSchema.properties ?? {});
  // Clients of this revision know no short forms.
  const isOldest = fields.includes('detail') && session?.protocol_version === '2024-11-05';
  const args: Record<string, unknown> = isOldest ? { detail: 'full', ...ownArgs } : ownArgs;
  if (operation.kind === 'read') return { operation, input: args, fields, page_field, toResult };
  const { idempotency_key: key, ...input } = args;
  return { operation, input, fields, idempotency_key: parseIdempotencyKey(key), page_field, toResult };
}

function parseIdempotencyKey(key: unknown): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key === 'string' && idempotencyKeyPattern.test(key)) return key;
  throw wrongField('idempotency_key', 'must be 1 to 255 visible ASCII characters');
}

/**
 * The feed status, for `_meta` of the result. It is read before most calls, so that all their effects come after its cursor. Undefined if
 * the token may see no events, or if reading fails, because a call must not fail for that.
 */
async function readFeedStatus(
  { realtime, logger }: Pick<McpParts, 'realtime' | 'logger'>,
  { actor, request_id }: Caller,
  position: Position | undefined,
  { head, move }: { head?: FeedHead | undefined; move?: Move | undefined } = {},
): Promise<FeedStatus | undefined> {
  if (!hasFeedScope(actor)) return undefined;
  try {
    return await realtime.feedStatus(actor, toWaitPosition(position, move), head);
  } catch (error) {
    logger.debug({ err: error, request_id }, 'reading a feed status failed');
    return undefined;
  }
}
