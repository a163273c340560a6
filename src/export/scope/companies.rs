//! Finds the companies of an export: all that the account sees, or one and those below it, level by level (specification 4.2).

use std::collections::HashSet;

use super::{Result, Scope, Surveyor, records};
use crate::export::owner::Owner;
use crate::export::subject::OwnerKind;
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::service::{Call, ListAnswer, ReadError};

impl Surveyor<'_> {
    /// The companies of a scope, those above before those below.
    pub(super) async fn companies(&mut self, scope: &Scope) -> Result<()> {
        match scope {
            Scope::Everything => {
                let operation = Operation::ListCompanies;
                let listed = self.list(operation).await?;
                self.found("company", "companies", listed.length(), operation);
                for company in listed {
                    self.keep_listed(OwnerKind::Company, company)?;
                }
            }
            Scope::Company { below, .. } => {
                self.below(*below, &mut |this, company| this.keep(company)).await?;
            }
            Scope::Site(_) | Scope::Device(_) | Scope::Records(_) => {}
        }
        Ok(())
    }

    /// The ids of the companies of a scope that begins with one.
    pub(super) async fn company_ids(&mut self, below: bool) -> Result<HashSet<RemoteId>> {
        match &self.companies {
            Some(companies) => Ok(companies.clone()),
            None => self.below(below, &mut |_, _| Ok(())).await,
        }
    }

    /// Hands over the company of the scope and, where they belong to it, all below it, level by level; and gives their ids.
    async fn below(
        &mut self,
        below: bool,
        each: &mut dyn FnMut(&mut Self, Owner) -> Result<()>,
    ) -> Result<HashSet<RemoteId>> {
        let mut level = Vec::new();
        if let Some(root) = self.root.clone() {
            level.push(root.id);
            each(self, root)?;
        }
        let mut seen: HashSet<RemoteId> = level.iter().copied().collect();
        if below {
            let operation = Operation::GetChildCompanies;
            let mut is_first = true;
            while !level.is_empty() {
                let calls: Vec<Call> =
                    level.iter().map(|id| Call::reading(operation, [id.to_string()])).collect();
                let (mut parents, mut next) = (level.into_iter(), Vec::new());
                let (reader, is_first_level) = (self.reader, std::mem::take(&mut is_first));
                let mut take = |answer: std::result::Result<ListAnswer, ReadError>| -> Result<()> {
                    let Some(parent) = parents.next() else { return Ok(()) };
                    let children = match answer.and_then(|answer| records(operation, answer)) {
                        Ok(children) => children,
                        // Without the first answer nothing is known.
                        Err(error) if is_first_level => return Err(error.into()),
                        Err(error) => {
                            let why = format!("the companies below it are not in this export: {error}");
                            return each(self, Owner::new(OwnerKind::Company, parent).troubled(why));
                        }
                    };
                    self.note_page(operation, children.length());
                    for child in children {
                        if let Some(owner) = Owner::listed(OwnerKind::Company, child)
                            && seen.insert(owner.id)
                        {
                            next.push(owner.id);
                            each(self, Owner { parent: Some(parent), ..owner })?;
                        }
                    }
                    Ok(())
                };
                reader.list_each(calls, &mut take).await?;
                level = next;
            }
            self.found("company", "companies", seen.len(), operation);
        }
        self.companies = Some(seen.clone());
        Ok(seen)
    }
}
