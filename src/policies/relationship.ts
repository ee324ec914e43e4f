export const relationships = ['self', 'same_owner', 'same_organization', 'contact', 'none'] as const;

export type Relationship = (typeof relationships)[number];

/** The closest way in which two agents belong together. */
export function relationshipOf(relation: {
  self: boolean;
  same_owner: boolean;
  same_organization: boolean;
  contact: boolean;
}): Relationship {
  if (relation.self) return 'self';
  if (relation.same_owner) return 'same_owner';
  if (relation.same_organization) return 'same_organization';
  return relation.contact ? 'contact' : 'none';
}
