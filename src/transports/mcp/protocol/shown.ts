import type { Prompt } from '../prompts/prompts.ts';
import type { Resources } from '../resources/resources.ts';
import type { Tool } from '../tools/tools.ts';

/** What of the catalogue the tool server shows. */
export interface McpFeatures {
  tools: ReadonlyMap<string, Tool>;
  resources: Resources;
  prompts: readonly Prompt[];
}
