import { Cluster, type ClusterNode, type ClusterOptions } from 'ioredis';

/**
 * A cluster client that rejects commands while it is not connected and limits each command to `limit_ms`. The library counts that time only
 * while a node has the command, not while no node serves its slot.
 */
export class FailFastCluster extends Cluster {
  readonly #limit_ms: number;

  constructor(nodes: ClusterNode[], options: ClusterOptions, limit_ms: number) {
    super(nodes, options);
    this.#limit_ms = limit_ms;
  }

  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    // The client itself sends CLUSTER INFO to find out whether it is connected.
    if (this.status === 'ready' || command.name === 'cluster') {
      command.setTimeout(this.#limit_ms);
      return super.sendCommand(command, stream, node);
    }
    command.reject(new Error('the Redis Cluster is not connected'));
    return command.promise;
  }
}
