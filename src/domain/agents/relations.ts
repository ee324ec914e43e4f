/** What relates a viewing agent to another one; blocks have a direction. */
export interface Relation {
  self: boolean;
  same_owner: boolean;
  same_organization: boolean;
  contact: boolean;
  /** The viewer, or its owner, is on the other one's allowlist. */
  allowlisted: boolean;
  blocked_by_them: boolean;
  blocked_by_viewer: boolean;
}

/** How an agent belongs to the viewer, closest first (contract, section 3). */
export const relationships = ['self', 'same_owner', 'same_organization', 'contact', 'none'] as const;

export type Relationship = (typeof relationships)[number];

/** The closest way in which two agents belong together. */
export function relationshipOf(relation: Relation): Relationship {
  const closest = relationships.find((way) => way !== 'none' && relation[way]);
  return closest ?? 'none';
}
