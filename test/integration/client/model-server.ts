import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '../../support/servers/listen.ts';
import { stopAfterTest } from '../../support/use.ts';

/** What the model does next: it calls a tool, or ends with a text. */
type Turn = { tool: string; input: object } | { text: string };

/** A stand-in for a model with the chat completions of OpenAI. Each turn gets the result of the tool before it. */
export async function startModel(turns: readonly ((toolResult: string) => Turn)[]): Promise<{ url: string }> {
  let count = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { messages } = (await json(request)) as { messages: { role: string; content: unknown }[] };
    const last = messages.at(-1);
    const turn = turns[count]?.(last?.role === 'tool' ? JSON.stringify(last.content) : '');
    count += 1;
    if (!turn) return void response.writeHead(500).end();
    const message =
      'text' in turn
        ? { role: 'assistant', content: turn.text }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `call_${count}`,
                type: 'function',
                function: { name: turn.tool, arguments: JSON.stringify(turn.input) },
              },
            ],
          };
    const finish_reason = 'text' in turn ? 'stop' : 'tool_calls';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify({
        id: `answer-${count}`,
        object: 'chat.completion',
        created: 1,
        model: 'stand-in',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      }),
    );
  }

  const server = createServer((request, response) => void answer(request, response));
  const { url } = stopAfterTest(await listen(server));
  return { url: `${url}/v1` };
}
