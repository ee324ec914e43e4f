import type { Prompt } from './prompts.ts';
import type { Resources } from './resources.ts';
import type { Tool } from './tools.ts';

/** What of the catalogue the tool server shows. */
export interface Shown {
  tools: ReadonlyMap<string, Tool>;
  resources: Resources;
  prompts: readonly Prompt[];
}
