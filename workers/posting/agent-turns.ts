/** Limits the turns of each agent that run at the same time in this process, so that one agent cannot occupy the whole process. */
export interface AgentTurns {
  /** Begins a turn of a subscription. Returns false if the agent has the maximum. */
  begin(agentId: string, subscriptionId: string): boolean;
  /** Makes a subscription wait for the end of a turn of its agent. Returns false if a turn can begin. */
  wait(agentId: string, subscriptionId: string): boolean;
  /** Ends a turn. Returns the subscription of the agent that has waited longest; it no longer waits. */
  end(agentId: string): string | undefined;
}

interface Agent {
  running: number;
  waiting: Set<string>;
}

/** Creates the turns of a process. If the process ends, the sweep finds the subscriptions that were waiting. */
export function createAgentTurns(maxRunning: number): AgentTurns {
  const agents = new Map<string, Agent>();

  return {
    begin(agentId, subscriptionId) {
      const agent = agents.get(agentId) ?? { running: 0, waiting: new Set() };
      if (agent.running >= maxRunning) return false;
      agents.set(agentId, agent);
      agent.running += 1;
      agent.waiting.delete(subscriptionId);
      return true;
    },
    wait(agentId, subscriptionId) {
      const agent = agents.get(agentId);
      if (!agent || agent.running < maxRunning) return false;
      agent.waiting.add(subscriptionId);
      return true;
    },
    end(agentId) {
      const agent = agents.get(agentId);
      if (!agent) return undefined;
      agent.running -= 1;
      const [next] = agent.waiting;
      if (next !== undefined) agent.waiting.delete(next);
      else if (agent.running === 0) agents.delete(agentId);
      return next;
    },
  };
}
