import type { ContentBlock, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { Actor } from '../../../domain/auth/actor.ts';
import type { Operation, ToolBinding } from '../../../operations/define.ts';
import type { FeedStatus } from '../../../realtime/contract.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { inputSchema, outputSchema } from './json-schemas.ts';
import { findPageField } from './fit-result.ts';

export interface Tool {
  operation: Operation;
  /** As `tools/list` shows it. */
  definition: ToolDefinition;
  /** The field by which a read can be asked for fewer items. */
  page_field: string | undefined;
  /** Refuses who may not call it, where one scope does not say so. */
  requirePermission?(actor: Actor): void;
  /** What its answer says of where the feed of the agent stands now. */
  feedStatus?(answer: Record<string, unknown>): Partial<FeedStatus>;
  /** How its output is shown, where JSON text is not the way. */
  content?(output: Record<string, unknown>): ContentBlock[];
  /** Whether it may have something to say before the answer, whatever its client declared. */
  sendsMessages?: true;
  /** For a tool that needs more of a call than its input: what runs in place of `operation`. */
  createRun?(call: { actor: Actor; exchange: Exchange }): ToolRun;
}

export interface ToolRun {
  operation: Operation;
  /** To be called when the caller has the answer. */
  onResponseSent(): void;
}

/** The tool faces of the catalogue, and other tools, by name; made once, since schemas are dear to make. */
export function createTools(
  catalogue: readonly Operation[],
  others: readonly Tool[] = [],
): ReadonlyMap<string, Tool> {
  const tools = new Map(others.map((tool) => [tool.definition.name, tool]));
  for (const operation of catalogue) {
    const face = operation.tool;
    if (!face) continue;
    const name = face.name ?? operation.name;
    if (tools.has(name)) throw new Error(`two operations have a tool named ${name}`);
    tools.set(name, createTool(operation, face));
  }
  return tools;
}

/** One tool, without a place in the catalogue. */
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
