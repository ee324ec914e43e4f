import { Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { randomUUID } from 'node:crypto';

/** The parts of a message or an artifact, as JSON. */
export type JsonParts = readonly object[];

/** One task of the agent. */
export interface RemoteTurn {
  /** The message of the client. */
  text: string;
  taskId: string;
  /** Whether the client continues a task. */
  isContinued: boolean;
  setState(state: string, text?: string): void;
  addArtifact(parts: JsonParts, id?: string): void;
  complete(text: string): void;
}

type Behavior = (turn: RemoteTurn) => void | Promise<void>;

const behaviors: Record<string, Behavior> = {
  steps({ setState, addArtifact }) {
    setState('WORKING', 'I look into it.');
    addArtifact([{ text: 'The first result.' }]);
    addArtifact([{ text: 'The second result.' }]);
    setState('COMPLETED');
  },
  ask({ isContinued, text, setState, complete }) {
    if (isContinued) complete(text);
    else setState('INPUT_REQUIRED', 'Which one?');
  },
  fail: ({ setState }) => setState('FAILED', 'It does not work.'),
  reject: ({ setState }) => setState('REJECTED', 'I do not do this.'),
  files({ addArtifact, setState }) {
    const raw = Buffer.from('The bytes.\n').toString('base64');
    addArtifact([
      { text: 'Two files.' },
      { raw, filename: 'bytes.txt', mediaType: 'text/plain' },
      { url: 'https://files.example/picture.png', filename: 'picture.png', mediaType: 'image/png' },
    ]);
    setState('COMPLETED');
  },
  long({ addArtifact, setState }) {
    addArtifact([{ text: 'A long text. '.repeat(3_000) }]);
    setState('COMPLETED');
  },
};

/**
 * The agent of the remote server. The first word of a task's first message says what it does: `direct` answers with a message in place of a
 * task, `silent` and `wait` leave the task open until a test ends it, and every other word completes with an artifact.
 */
export function createRemoteAgent() {
  const turns = new Map<string, RemoteTurn>();
  const begun = new Map<string, string>();

  function createTurn(
    { userMessage, taskId, contextId, task }: RequestContext,
    bus: ExecutionEventBus,
  ): RemoteTurn {
    const about = { taskId, contextId };
    const text = textOf(userMessage);
    function setState(state: string, said?: string): void {
      const message = said !== undefined && toMessage(about, said);
      const status = {
        state: `TASK_STATE_${state}`,
        timestamp: new Date().toISOString(),
        ...(message && { message }),
      };
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...about, status })));
    }
    function addArtifact(parts: JsonParts, artifactId: string = randomUUID()): void {
      const artifact = { artifactId, parts };
      bus.publish(
        AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...about, artifact, lastChunk: true })),
      );
    }
    return {
      text,
      taskId,
      isContinued: task !== undefined,
      setState,
      addArtifact,
      complete(result) {
        addArtifact([{ text: `Done: ${result}` }]);
        setState('COMPLETED');
      },
    };
  }

  const executor: AgentExecutor = {
    async execute(context, bus) {
      const { userMessage, taskId, contextId, task } = context;
      const turn = createTurn(context, bus);
      const word = begun.get(taskId) ?? turn.text.split(/\W/)[0] ?? '';
      if (word === 'direct') {
        bus.publish(AgentEvent.message(Message.fromJSON(toMessage({ contextId }, `Done: ${turn.text}`))));
        return;
      }
      begun.set(taskId, word);
      turns.set(taskId, turn);
      const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date().toISOString() };
      const history = task?.history ?? [userMessage];
      bus.publish(
        AgentEvent.task({
          ...Task.fromJSON({ id: taskId, contextId, status }),
          history,
          artifacts: task?.artifacts ?? [],
        }),
      );
      // A task that is open keeps its event bus only while its executor runs.
      if (word === 'silent' || word === 'wait') return new Promise(() => undefined);
      await (behaviors[word] ?? (({ complete, text }: RemoteTurn) => complete(text)))(turn);
    },
    async cancelTask(taskId) {
      turns.get(taskId)?.setState('CANCELED');
    },
  };
  return {
    executor,
    /** The tasks with a message of this text, to be continued by a test. */
    turnsOf: (text: string) => [...turns.values()].filter((turn) => turn.text === text),
  };
}

const textOf = ({ parts }: Message): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('\n');

const toMessage = (about: object, text: string) => ({
  ...about,
  messageId: randomUUID(),
  role: 'ROLE_AGENT',
  parts: [{ text }],
});
