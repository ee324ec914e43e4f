import { Cluster, type ClusterNode, type ClusterOptions } from 'ioredis';

/**
 * A client of a cluster whose commands are turned away while it is not connected, and none of which takes longer than `limit_ms`
 * milliseconds. By itself the client counts the time of a command only while a node has it, and not while no node can be found for it.
 */
export class FailFastCluster extends Cluster {
  readonly #limit_ms: number;

  constructor(nodes: ClusterNode[], options: ClusterOptions, limit_ms: number) {
    super(nodes, options);
    this.#limit_ms = limit_ms;
  }

  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    // By CLUSTER INFO the client finds out whether it is connected.
    if (this.status === 'ready' || command.name === 'cluster') {
      command.setTimeout(this.#limit_ms);
      return super.sendCommand(command, stream, node);
    }
    command.reject(new Error('the Redis Cluster is not connected'));
    return command.promise;
  }
}
