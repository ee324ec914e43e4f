import { hasFeedScope } from '../../../realtime/feed-scopes.ts';
import type { FeedStatus } from '../../../realtime/contract.ts';
import type { Caller, Exchange } from '../protocol/exchange.ts';
import type { McpParts } from '../parts.ts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { wrongField } from '../../../domain/errors.ts';
import { replyOf } from '../../../operations/execute/await-reply.ts';
import { idempotencyKeyPattern, maxWaitSeconds } from '../../../operations/fields.ts';
import { createApprover } from '../approvals/approver.ts';
import { type OperationCall, toOperationError, runOperation } from './run-operation.ts';
import { defaultProgressMs, withProgress } from './progress.ts';
import type { Tool } from './tools.ts';

/**
 * Calls a tool (MCP, Tools: Calling Tools). Never throws: an error is a result with `isError` and the REST error body as text. It
 * has no structured content, because clients validate that against the output schema. `_meta` has the feed status of the agent.
 */
export async function callTool(
  parts: McpParts,
  caller: Caller,
  { tool, args, exchange }: { tool: Tool; args: Record<string, unknown>; exchange: Exchange },
): Promise<CallToolResult> {
  const before = tool.feedStatus ? undefined : await readFeedStatus(parts, caller);
  const readMeta = async (output: Record<string, unknown> = {}) => {
    const status = tool.feedStatus ? await readFeedStatus(parts, caller) : before;
    return status && { ...status, ...tool.feedStatus?.(output) };
  };
  const toolCaller = { actor: caller.actor, session_key: caller.session?.key };
  try {
    const approver = tool.operation.approval && createApprover(parts, caller, exchange);
    const run = tool.createRun?.({ ...toolCaller, exchange });
    const call = {
      ...toOperationCall(tool, args, caller),
      ...(run && { operation: run.operation }),
      approver,
      signal: exchange.signal,
    };
    const feed_cursor = await tool.readCursor?.(toolCaller);
    const from = { ...caller, actor: { ...caller.actor, feed_cursor } };
    const fitted = await runWithProgress(parts, exchange, tool, () => runOperation(parts, from, call));
    if (run) caller.onResponseSent(run.onResponseSent);
    const reply = replyOf(fitted.value);
    if (reply) caller.onResponseSent(() => tool.onReplySent?.(toolCaller, reply));
    const meta = await readMeta(fitted.value);
    // Several clients hide _meta from the model.
    const isShown = tool.showsFeed && meta !== undefined;
    const value = isShown ? { ...fitted.value, ...meta } : fitted.value;
    const text = isShown ? JSON.stringify(value) : fitted.text;
    const content = tool.content?.(value) ?? [{ type: 'text', text }];
    return { content, structuredContent: value, ...(meta && { _meta: meta }) };
  } catch (thrown) {
    const { body } = toOperationError(parts, caller, tool.operation, thrown);
    const content = [{ type: 'text' as const, text: JSON.stringify(body) }];
    const meta = await readMeta();
    return { isError: true, content, ...(meta && { _meta: meta }) };
  }
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
  { operation, definition, page_field, coerce, toResult }: Tool,
  rawArgs: Record<string, unknown>,
  { session }: Caller,
): OperationCall {
  const hasDetail = definition.inputSchema.properties?.['detail'] !== undefined;
  // Clients of this revision know no short forms.
  const defaults = hasDetail && session?.protocol_version === '2024-11-05' ? { detail: 'full' } : {};
  const args: Record<string, unknown> = { ...defaults, ...coerce(rawArgs) };
  if (operation.kind === 'read') return { operation, input: args, page_field, toResult };
  const { idempotency_key, ...input } = args;
  return { operation, input, idempotency_key: parseIdempotencyKey(idempotency_key), page_field, toResult };
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
export async function readFeedStatus(
  { realtime, logger }: Pick<McpParts, 'realtime' | 'logger'>,
  { actor, request_id }: Caller,
): Promise<FeedStatus | undefined> {
  if (!hasFeedScope(actor)) return undefined;
  try {
    return await realtime.feedStatus(actor);
  } catch (error) {
    logger.debug({ err: error, request_id }, 'reading a feed status failed');
    return undefined;
  }
}
