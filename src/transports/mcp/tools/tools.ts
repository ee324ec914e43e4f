import type { ContentBlock, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { Actor } from '../../../domain/auth/actor.ts';
import type { Operation, ToolBinding } from '../../../operations/define.ts';
import type { FeedStatus } from '../../../realtime/contract.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { inputSchema, outputSchema } from './json-schemas.ts';
import { findPageField } from './fit-result.ts';

export interface Tool {
  operation: Operation;
  /** The entry in `tools/list`. */
  definition: ToolDefinition;
  /** The input field that limits the number of items of a read. */
  page_field: string | undefined;
  /** Checks permissions that the scope of the operation does not cover. @throws {DomainError} INSUFFICIENT_SCOPE */
  requirePermission?(actor: Actor): void;
  /** The feed status after the call, from its output. */
  feedStatus?(output: Record<string, unknown>): Partial<FeedStatus>;
  /** Content blocks for the output. Default: JSON text. */
  content?(output: Record<string, unknown>): ContentBlock[];
  /** Whether the tool may send messages before its result. */
  sendsMessages?: true;
  /** Creates the operation that runs in place of `operation`, for tools that need the exchange with the client. */
  createRun?(call: { actor: Actor; session_key: string | undefined; exchange: Exchange }): ToolRun;
}

export interface ToolRun {
  operation: Operation;
  /** Called once the response was sent. */
  onResponseSent(): void;
}

/** Creates the tools of the catalogue and other tools, by name. Called once at start: creating schemas is slow. */
export function createTools(
  catalogue: readonly Operation[],
  others: readonly Tool[] = [],
): ReadonlyMap<string, Tool> {
  const tools = new Map(others.map((tool) => [tool.definition.name, tool]));
  for (const operation of catalogue) {
    const binding = operation.tool;
    if (!binding) continue;
    const name = binding.name ?? operation.name;
    if (tools.has(name)) throw new Error(`duplicate tool name: ${name}`);
    tools.set(name, createTool(operation, binding));
  }
  return tools;
}

/** Creates one tool from an operation. */
export function createTool(
  operation: Operation,
  { name = operation.name, description, annotations }: ToolBinding,
): Tool {
  const schemas = {
    inputSchema: inputSchema(operation.input, operation.kind === 'write'),
    outputSchema: outputSchema(operation.output),
  };
  const definition = { name, title: operation.summary, description, ...schemas, annotations };
  return { operation, definition, page_field: findPageField(operation, schemas.inputSchema) };
}
