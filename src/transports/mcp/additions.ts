import type { Operation } from '../../operations/define.ts';
import type { Prompt } from './prompts/prompts.ts';
import type { TaskSource } from './tasks/task-source.ts';
import type { Tool } from './tools/tools.ts';

/** Tools, resources, prompts and tasks besides those of the service. Only conformance tests add some. */
export interface Additions {
  tools: readonly Tool[];
  resources: readonly OtherResource[];
  prompts: readonly Prompt[];
  tasks?: TaskSource;
}

/** An operation whose output is returned as a resource with its own media type. */
export interface OtherResource {
  operation: Operation;
  mime_type: string;
  contents(output: Record<string, unknown>): { text: string } | { blob: string };
}
