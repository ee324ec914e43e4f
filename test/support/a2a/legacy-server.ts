import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../servers/listen.ts';

/** The states of A2A 0.3 that the server uses. */
type LegacyState = 'submitted' | 'working' | 'input-required' | 'completed' | 'canceled';

interface LegacyTask {
  kind: 'task';
  id: string;
  contextId: string;
  status: { state: LegacyState; message?: object };
  artifacts: object[];
  history: object[];
}

interface LegacyMessage {
  messageId: string;
  taskId?: string;
  contextId?: string;
  parts: { kind: string; text?: string }[];
}

interface LegacyCall {
  id: unknown;
  method: string;
  params: { id?: string; message: LegacyMessage };
}

/**
 * An agent of A2A 0.3 over JSON-RPC, written from its specification. The first word of a message says what it does: `direct` answers with a
 * message, `ask` asks back, `silent` waits, and every other word is completed when its task is read for the second time.
 */
export async function startLegacyServer() {
  const tasks = new Map<string, LegacyTask & { reads: number }>();
  const calls: { method: string; params: LegacyCall['params']; version: string | undefined }[] = [];
  let dropped: string | undefined;

  const textOf = ({ parts }: LegacyMessage): string => parts.map(({ text = '' }) => text).join('');
  const toMessage = (about: object, text: string) => ({
    kind: 'message',
    messageId: randomUUID(),
    role: 'agent',
    parts: [{ kind: 'text', text }],
    ...about,
  });

  function complete(task: LegacyTask, text: string): void {
    task.artifacts.push({ artifactId: randomUUID(), parts: [{ kind: 'text', text }] });
    task.status = { state: 'completed' };
  }

  function send(message: LegacyMessage): object {
    const text = textOf(message);
    const { contextId = randomUUID() } = message;
    if (text.startsWith('direct')) return toMessage({ contextId }, `Done: ${text}`);
    const known = message.taskId === undefined ? undefined : tasks.get(message.taskId);
    if (known) {
      known.history.push(message);
      complete(known, `Done: ${text}`);
      return known;
    }
    const id = randomUUID();
    const about = { taskId: id, contextId };
    const status = text.startsWith('ask')
      ? { state: 'input-required' as const, message: toMessage(about, 'Which one?') }
      : { state: 'working' as const };
    const task = {
      kind: 'task' as const,
      id,
      contextId,
      status,
      artifacts: [],
      history: [message],
      reads: 0,
    };
    tasks.set(id, task);
    return task;
  }

  function read(id = ''): object | undefined {
    const task = tasks.get(id);
    const [first] = task?.history ?? [];
    const text = first ? textOf(first as LegacyMessage) : '';
    if (!task) return undefined;
    task.reads += 1;
    const isWaiting = text.startsWith('silent') || text.startsWith('ask');
    if (task.reads === 2 && task.status.state === 'working' && !isWaiting) complete(task, `Done: ${text}`);
    return task;
  }

  function cancel(id = ''): object | undefined {
    const task = tasks.get(id);
    if (task) task.status = { state: 'canceled' };
    return task;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Content-Type', 'application/json');
    if (request.method === 'GET') {
      response.end(JSON.stringify(buildCard(url)));
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as LegacyCall;
    calls.push({ method, params, version: request.headers['a2a-version'] as string | undefined });
    const results: Record<string, () => object | undefined> = {
      'message/send': () => send(params.message),
      'tasks/get': () => read(params.id),
      'tasks/cancel': () => cancel(params.id),
    };
    const known = results[method];
    const result = known?.();
    const error = known
      ? { code: -32_001, message: 'Task not found' }
      : { code: -32_601, message: 'Method not found' };
    if (dropped === method) {
      dropped = undefined;
      response.destroy();
      return;
    }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }));
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const { url, close } = await listen(server);

  return {
    cardUrl: `${url}/.well-known/agent.json`,
    calls,
    /** The tasks, oldest first. */
    tasks: () => [...tasks.values()],
    /** The agent gets the next call of a method, and its client no answer. */
    dropAnswer(method: string) {
      dropped = method;
    },
    close,
  };
}

/** A card of A2A 0.3 (section 5.5). */
const buildCard = (url: string) => ({
  protocolVersion: '0.3.0',
  name: 'Legacy Agent',
  description: 'An agent of A2A 0.3.',
  version: '1.0.0',
  url: `${url}/rpc`,
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: false, pushNotifications: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'answer', name: 'Answer', description: 'Answers questions.', tags: ['answer'] }],
});
