import type { Operation } from '../../operations/define.ts';
import type { Prompt } from './prompts/prompts.ts';
import type { Tool } from './tools/tools.ts';

/**
 * What the tool server shows beside the catalogue and its own prompts. The service has none: judges of the protocol bring what
 * they look for, so that it is served by the same code.
 */
export interface Additions {
  tools: readonly Tool[];
  resources: readonly OtherResource[];
  prompts: readonly Prompt[];
}

/** A face of an operation that is shown in a way of its own. */
export interface OtherResource {
  operation: Operation;
  mime_type: string;
  contents(output: Record<string, unknown>): { text: string } | { blob: string };
}
