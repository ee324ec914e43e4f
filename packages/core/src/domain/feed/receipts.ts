/** A member of a thread has received its messages up to this sequence. */
export interface DeliveredMark {
  thread_id: string;
  agent_id: string;
  sequence: number;
}

/** The range of a feed that an agent has received: the numbers above `after`, up to `upto`. */
export interface FeedRange {
  agent_id: string;
  after: number;
  upto: number;
}

/** The message of an event. */
export interface MessageRef {
  thread_id: string;
  sender_id: string;
  sequence: number;
}

/** The delivered mark for an event: none unless it is about a message of another sender. */
export function toDeliveredMark(agent_id: string, message: MessageRef | null): DeliveredMark | undefined {
  if (!message || message.sender_id === agent_id) return undefined;
  return { thread_id: message.thread_id, agent_id, sequence: message.sequence };
}
