/*
 * The usual mistakes of a model. Each is a call, what the service answers, and the next call that the answer leads to. Words in capital
 * letters stand for what only the run knows; see `placeholders` in model-mistakes.test.ts.
 */

export type ToolCall = readonly [tool: string, args: object | string];

export interface Mistake {
  name: string;
  call: ToolCall;
  /** The whole text of the error, or the part that decides. Absent: the meaning is clear, and the call runs. */
  answer?: string | RegExp;
  /** The call that the error leads to. For a call that runs: the right form of it. */
  next?: ToolCall;
}

export const runs = (name: string, call: ToolCall, next?: ToolCall): Mistake => ({
  name,
  call,
  ...(next && { next }),
});
export const fails = (name: string, call: ToolCall, answer: string | RegExp, next: ToolCall): Mistake => ({
  name,
  call,
  answer,
  next,
});

export const send = (args: object): ToolCall => [
  'send_message',
  { thread_id: 'THREAD', content: 'x', ...args },
];
export const sent = send({});
export const read: ToolCall = ['get_thread', { thread_id: 'THREAD' }];
export const open = (args: object): ToolCall => ['create_thread', { with_handle: 'FRIEND', ...args }];
export const opened = open({});
export const list = (args: object): ToolCall => ['list_threads', args];
export const listed = list({});
export const find = (args: object): ToolCall => ['search_messages', { query: 'hello', ...args }];
export const found = find({});
export const upload = (args: object): ToolCall => ['upload_attachment', { filename: 'a.txt', ...args }];
export const uploaded = upload({ text: 'plain' });
export const waitNow = (args: object): ToolCall => ['wait_for_events', { wait_seconds: 0, ...args }];
export const waited = waitNow({});
export const card = (args: object): ToolCall => ['update_my_card', args];
