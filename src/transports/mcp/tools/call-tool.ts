import { hasFeedScope } from '../../../realtime/feed-scopes.ts';
import type { FeedStatus } from '../../../realtime/contract.ts';
import type { Caller, Exchange } from '../protocol/exchange.ts';
import type { McpParts } from '../parts.ts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { wrongField } from '../../../domain/errors.ts';
import { idempotencyKeyPattern } from '../../../operations/fields.ts';
import { createApprover } from '../approvals/approver.ts';
import { type OperationCall, toOperationError, runOperation } from './run-operation.ts';
import type { Tool } from './tools.ts';

/**
 * Calls a tool (MCP, Tools: Calling Tools). Never throws: a refusal is a result with `isError` and the error body of REST as its
 * text, without structured content, since clients hold that against the output schema of the tool. `_meta` says where the feed of
 * the agent stands.
 */
export async function callTool(
  parts: McpParts,
  caller: Caller,
  { tool, given, exchange }: { tool: Tool; given: Record<string, unknown>; exchange: Exchange },
): Promise<CallToolResult> {
  const standing = await readFeedStatus(parts, caller);
  const meta = standing && { ...standing };
  try {
    const approver = tool.operation.approval && createApprover(parts, caller, exchange);
    const during = tool.createRun?.({ actor: caller.actor, exchange });
    const call = {
      ...toOperationCall(tool, given),
      ...(during && { operation: during.operation }),
      approver,
    };
    const { text, value } = await runOperation(parts, caller, call);
    if (during) caller.onResponseSent(during.onResponseSent);
    if (meta) Object.assign(meta, tool.feedStatus?.(value));
    const content = tool.content?.(value) ?? [{ type: 'text', text }];
    return { content, structuredContent: value, ...(meta && { _meta: meta }) };
  } catch (thrown) {
    const { body } = toOperationError(parts, caller, tool.operation, thrown);
    const content = [{ type: 'text' as const, text: JSON.stringify(body) }];
    return { isError: true, content, ...(meta && { _meta: meta }) };
  }
}

/** Takes the idempotency key out of the arguments of a tool that writes. */
function toOperationCall({ operation, page_field }: Tool, given: Record<string, unknown>): OperationCall {
  if (operation.kind === 'read') return { operation, input: given, page_field };
  const { idempotency_key, ...input } = given;
  return { operation, input, idempotency_key: parseIdempotencyKey(idempotency_key), page_field };
}

function parseIdempotencyKey(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && idempotencyKeyPattern.test(given)) return given;
  throw wrongField('idempotency_key', 'must be 1 to 255 visible ASCII characters');
}

/**
 * Where the feed of the caller's agent stood before the call, for `_meta` of its result: what the call sets in motion lies behind
 * that cursor. Undefined for those who may see no events, and when it cannot be read just now: no call fails for that.
 */
export async function readFeedStatus(
  { realtime, logger }: Pick<McpParts, 'realtime' | 'logger'>,
  { actor, request_id }: Caller,
): Promise<FeedStatus | undefined> {
  if (!hasFeedScope(actor)) return undefined;
  try {
    return await realtime.feedStatus(actor);
  } catch (error) {
    logger.debug({ err: error, request_id }, 'where a feed stands could not be read');
    return undefined;
  }
}
