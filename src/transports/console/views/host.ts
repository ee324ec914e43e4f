import type { Results } from './results.ts';

/** A result of a tool (MCP, Tools). */
export interface ToolResult {
  content?: readonly { type: string; text?: string }[];
  structuredContent?: object | undefined;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** The chat client around a view. */
export interface ViewHost {
  /** Whether it calls tools of the service for the view. */
  canCall: boolean;
  /** Whether it opens addresses in the browser. */
  canOpen: boolean;
  /** Whether it takes messages of the view into the chat. */
  canWrite: boolean;
  /** The time zone of the reader. Undefined: unknown. */
  timeZone: string | undefined;
  /** @throws {Error} when the client refuses the call */
  callTool(name: string, args: object): Promise<ToolResult>;
  openLink(url: string): Promise<unknown>;
  /** Writes into the chat as the person. */
  write(text: string): Promise<unknown>;
}

/** The error of a failed tool. */
export interface ToolError {
  code?: string;
  message?: string;
  approval_id?: string;
  approval_url?: string;
}

/** The value of a result. Its text is the same JSON, for clients that pass on only one of them. */
export function readValue({ structuredContent, content = [] }: ToolResult): object {
  try {
    return structuredContent ?? Object(JSON.parse(content[0]?.text ?? ''));
  } catch {
    return {};
  }
}

/** The error of a result; undefined if the tool did not fail. */
export function readError({ isError, content }: ToolResult): ToolError | undefined {
  if (isError !== true) return undefined;
  const { error = {} } = readValue(content ? { content } : {}) as { error?: ToolError };
  return error;
}

/** Calls a tool. @throws {Error} its error, in words for people */
export async function call<Name extends keyof Results>(
  host: ViewHost,
  name: Name,
  args: object,
): Promise<Results[Name]> {
  const result = await host.callTool(name, args);
  const error = readError(result);
  if (error) throw new Error(error.message ?? 'This did not work.');
  return readValue(result) as Results[Name];
}
