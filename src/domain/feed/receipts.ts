/** A member of a thread has got its messages up to here. */
export interface DeliveredMark {
  thread_id: string;
  agent_id: string;
  sequence: number;
}

/** A stretch of an agent's feed that it says it has: the numbers above `after`, up to `upto`. */
export interface FeedRange {
  agent_id: string;
  after: number;
  upto: number;
}

/** What an event says of a message. */
export interface MessageRef {
  thread_id: string;
  sender_id: string;
  sequence: number;
}

/** The mark that an event means to an agent that got it: none unless it is a message of somebody else. */
export function toDeliveredMark(agent_id: string, message: MessageRef | null): DeliveredMark | undefined {
  if (!message || message.sender_id === agent_id) return undefined;
  return { thread_id: message.thread_id, agent_id, sequence: message.sequence };
}
